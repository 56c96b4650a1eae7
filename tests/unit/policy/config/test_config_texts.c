/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is written about the options agrees with the table of options. */
#include "policy/config/config.h"

#include <stdlib.h>
#include <string.h>

#include "policy/config/setting.h"
#include "resolver/compile/source_files.h"
#include "tests/check.h"

/* Two values of libconfig, as their text. */
static bool
same_setting(const config_t *a, const config_t *b, const char *path)
{
	char *left = NULL, *right = NULL;
	size_t size;
	const config_t *trees[2] = { a, b };
	char **texts[2] = { &left, &right };
	bool same;

	for (int i = 0; i < 2; i++) {
		config_setting_t *s = config_lookup(trees[i], path);
		FILE *out = open_memstream(texts[i], &size);

		if (s == NULL) {
			fclose(out);
			continue;
		}
		if (config_setting_is_scalar(s)) {
			fprintf(out, "%lld %d %s",
			    config_setting_get_int64(s),
			    config_setting_get_bool(s),
			    config_setting_get_string(s) != NULL ?
			    config_setting_get_string(s) : "-");
		} else {
			fprintf(out, "%d:", config_setting_length(s));
			for (int j = 0; j < config_setting_length(s); j++)
				fprintf(out, " %s", config_setting_get_string(
				    config_setting_get_elem(s,
				    (unsigned int)j)));
		}
		fclose(out);
	}
	same = left != NULL && right != NULL && left[0] != '\0' &&
	    strcmp(left, right) == 0;
	if (!same)
		printf("  %s: %s, %s\n", path, left, right);
	free(left);
	free(right);
	return same;
}

/* Reads a file of the checkout; the caller frees. */
static char *
slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 17);

	CHECK(f != NULL);
	if (f == NULL || text == NULL)
		return text;
	text[fread(text, 1, (1 << 17) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static char *
printed_defaults(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	config_print_defaults(out);
	fclose(out);
	return text;
}

TEST(printed_defaults_are_a_whole_file)
{
	char *text = printed_defaults();
	config_t tree;

	config_init(&tree);
	CHECK(config_read_string(&tree, text) == CONFIG_TRUE);
	for (size_t i = 0; i < config_option_count; i++)
		if (strchr(config_options[i].path, '[') == NULL)
			CHECK(config_lookup(&tree, config_options[i].path) !=
			    NULL);
	config_destroy(&tree);
	free(text);
}

/* Takes the "# " off every line "# name = value;". */
static void
uncomment(char *text)
{
	for (char *line = text; line != NULL; line = strchr(line, '\n')) {
		char *hash, *end;

		line += line[0] == '\n';
		hash = line + strspn(line, "\t");
		end = strchr(line, '\n');
		if (end == NULL)
			return;
		if (strncmp(hash, "# ", 2) == 0 && end[-1] == ';' &&
		    hash[2 + strspn(hash + 2, "abcdefghijklmnopqrstuvwxyz_")] ==
		    ' ' && strstr(hash, " = ") < end)
			memset(hash, ' ', 2);
	}
}

TEST(the_packaged_file_shows_the_defaults)
{
	char *example = slurp("packaging/nfdnsd.conf");
	char *text = printed_defaults();
	config_t shown, real;

	config_init(&shown);
	config_init(&real);
	uncomment(example);
	CHECK(config_read_string(&real, text) == CONFIG_TRUE);
	if (config_read_string(&shown, example) != CONFIG_TRUE) {
		printf("  line %d: %s\n", config_error_line(&shown),
		    config_error_text(&shown));
		CHECK(0);
	}
	for (size_t i = 0; i < config_option_count && !test_failed_here; i++) {
		const char *path = config_options[i].path;

		if (strchr(path, '[') == NULL && strcmp(path, "policy") != 0 &&
		    strcmp(path, "audit") != 0 &&
		    strcmp(path, "mesh.tables") != 0 &&
		    strcmp(path, "mesh.zones") != 0)
			CHECK(same_setting(&shown, &real, path));
	}
	config_destroy(&shown);
	config_destroy(&real);
	free(example);
	free(text);
}

TEST(the_packaged_file_loads)
{
	char *example = slurp("packaging/nfdnsd.conf"), *whole = NULL;
	struct diag diag = DIAG_INIT;
	struct config *c = NULL;

	/* This machine need not have the default user. */
	CHECK(asprintf(&whole, "user = \"65533\";\n%s", example) > 0);
	CHECK(config_parse(&c, "/etc/nfdns/nfdnsd.conf", whole, strlen(whole),
	    &diag) == 0);
	if (c == NULL)
		printf("  %s\n", diag.entries[0].text);
	else {
		CHECK(c->mesh.source_count == 1);
		CHECK(c->mesh.sources[0].format == formats_find("hosts"));
		CHECK(strcmp(c->mesh.sources[0].path, "/etc/nfdns/hosts") == 0);
		CHECK(c->mesh.zone_count == 0);
	}
	diag_free(&diag);
	config_free(c);
	free(whole);
	free(example);
}

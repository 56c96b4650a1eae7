/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A configuration of several files: nfdnsd.conf and conf.d beside it. */
#include "policy/config/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

static char directory[] = "/tmp/nfdns-conf-XXXXXX";
static char main_path[64];
static struct diag diag;

static const char *
path_of(const char *name)
{
	static char path[2][128];
	static unsigned int next;

	(void)snprintf(path[next % 2], sizeof(path[0]), "%s/%s", directory,
	    name);
	return path[next++ % 2];
}

static void
put(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "we");

	CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static struct config *
load(void)
{
	struct config *c;

	diag_free(&diag);
	(void)!config_load(&c, main_path, &diag);
	return c;
}

static bool
says(const char *text)
{
	for (size_t i = 0; i < diag.kept; i++)
		if (strstr(diag.entries[i].text, text) != NULL)
			return true;
	return false;
}

TEST(lists_add_up_and_the_last_value_counts)
{
	struct config *c, *again;

	put("nfdnsd.conf", "user = \"65533\"; queue = { maxlen = 200; };\n"
	    "mesh = { ttl = 7; search = [ \"a\" ]; tables = ( { format = "
	    "\"hosts\"; path = \"one\"; } ); };\n");
	put("conf.d/20-b.conf", "mesh = { ttl = 9; search = [ \"c\" ]; };");
	put("conf.d/10-a.conf", "mesh = { ttl = 8; search = [ \"b\" ]; tables = "
	    "( { format = \"hosts\"; path = \"two\"; } ); };");
	put("conf.d/other", "nonsense");
	put("conf.d/.hidden.conf", "nonsense");
	c = load();
	CHECK(c != NULL && c->mesh.ttl == 9 && c->queue.maxlen == 200);
	CHECK(c->mesh.search_count == 3 && c->mesh.search[1].octets[1] == 'b' &&
	    c->mesh.search[2].octets[1] == 'c');
	CHECK(c->mesh.source_count == 2);
	/* Relative paths begin where their file is. */
	CHECK(strcmp(c->mesh.sources[0].path, path_of("one")) == 0);
	CHECK(strcmp(c->mesh.sources[1].path, path_of("conf.d/two")) == 0);
	/* The same text, whatever stands there by now. */
	put("conf.d/20-b.conf", "mesh = { ttl = 10; };");
	CHECK(config_again(&again, c, &diag) == 0 && again->mesh.ttl == 9 &&
	    again->mesh.search_count == 3 && config_same_text(c, again));
	config_free(again);
	again = load();
	CHECK(again != NULL && again->mesh.ttl == 10 &&
	    !config_same_text(c, again));
	config_free(again);
	config_free(c);
}

TEST(errors_name_their_file)
{
	put("nfdnsd.conf", "user = \"65533\";\npolicy = ( { name = \"a\"; action "
	    "= \"drop\"; match = { names = [ \"x\" ]; }; } );\n");
	put("conf.d/10-a.conf", "\nmesh = { tll = 1; };");
	put("conf.d/20-b.conf", "queue = {");
	CHECK(load() == NULL && says("/conf.d/20-b.conf:"));
	put("conf.d/20-b.conf", "queue = { maxlen = 0; };");
	CHECK(load() == NULL && says("/conf.d/20-b.conf:1: queue.maxlen"));
	CHECK(says("/conf.d/10-a.conf:2: mesh.tll"));
	put("conf.d/10-a.conf", "\n\npolicy = ( { name = \"a\"; action = "
	    "\"refuse\"; match = { names = [ \"y\" ]; }; } );");
	put("conf.d/20-b.conf", "");
	CHECK(load() == NULL && says("/conf.d/10-a.conf:3: policy[") &&
	    says("the rule in ") && says("/nfdnsd.conf:2 is named"));
}

/* No more than one file may have. */
TEST(sums_of_lists_are_bounded)
{
	static const char *const names[] = { "conf.d/10-a.conf",
		"conf.d/20-b.conf" };

	put("nfdnsd.conf", "user = \"65533\";");
	for (int file = 0; file < 2; file++) {
		char text[500] = "mesh = { search = [ \"x\"";
		size_t n = strlen(text);

		for (int i = 0; i < 20; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    ", \"a%d.%d\"", file, i);
		(void)snprintf(text + n, sizeof(text) - n, " ]; };");
		put(names[file], text);
	}
	CHECK(load() == NULL && diag.errors > 0);
}

TEST(only_root_may_write_them)
{
	struct config *c;

	put("nfdnsd.conf", "user = \"65533\";");
	put("conf.d/10-a.conf", "mesh = { ttl = 8; };");
	put("conf.d/20-b.conf", "");
	CHECK(chmod(path_of("conf.d/10-a.conf"), 0666) == 0);
	CHECK(load() == NULL && says("10-a.conf: other users may write it"));
	CHECK(chmod(path_of("conf.d/10-a.conf"), 0644) == 0 &&
	    chmod(path_of("conf.d"), 0777) == 0);
	CHECK(load() == NULL && says("conf.d: other users may write it"));
	CHECK(chmod(path_of("conf.d"), 0755) == 0);
	c = load();
	CHECK(c != NULL && c->mesh.ttl == 8);
	config_free(c);
}

int
main(void)
{
	static const char *const names[] = { "conf.d/10-a.conf",
		"conf.d/20-b.conf", "conf.d/other", "conf.d/.hidden.conf",
		"nfdnsd.conf" };

	CHECK(mkdtemp(directory) != NULL);
	CHECK(mkdir(path_of("conf.d"), 0755) == 0);
	(void)snprintf(main_path, sizeof(main_path), "%s/nfdnsd.conf",
	    directory);
	test_run();
	diag_free(&diag);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlink(path_of(names[i]));
	(void)rmdir(path_of("conf.d"));
	(void)rmdir(directory);
	return test_summary();
}

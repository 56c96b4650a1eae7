/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A configuration file as a whole: read, parsed, each option looked up. */
#include "policy/config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/small_file.h"
#include "resolver/text/diag.h"
#include "resolver/text/suggest.h"

/* The text of the configuration file before and beside libconfig's parser. */

/* Where in the text a scan stands, as libconfig's scanner would see it. */
enum lexical { IN_SETTINGS, IN_STRING, IN_LINE_COMMENT, IN_COMMENT };

struct scan {
	const char *pos, *end;
	enum lexical state;
	unsigned int line;
	unsigned int opened;	/* line where a string or comment began */
	bool line_begins;
};

static bool
scan_sees(const struct scan *scan, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(scan->end - scan->pos) >= length &&
	    memcmp(scan->pos, text, length) == 0;
}

/* Goes one octet on, two where two belong together. */
static void
scan_step(struct scan *scan)
{
	enum lexical before = scan->state;
	size_t step = 1;

	if (before == IN_SETTINGS) {
		if (*scan->pos == '"')
			scan->state = IN_STRING;
		else if (*scan->pos == '#' || scan_sees(scan, "//"))
			scan->state = IN_LINE_COMMENT;
		else if (scan_sees(scan, "/*")) {
			scan->state = IN_COMMENT;
			step = 2;
		}
		scan->opened = scan->line;
	} else if (before == IN_STRING) {
		if (scan_sees(scan, "\\\"") || scan_sees(scan, "\\\\"))
			step = 2;
		else if (*scan->pos == '"')
			scan->state = IN_SETTINGS;
	} else if (before == IN_COMMENT && scan_sees(scan, "*/")) {
		scan->state = IN_SETTINGS;
		step = 2;
	} else if (before == IN_LINE_COMMENT && *scan->pos == '\n')
		scan->state = IN_SETTINGS;

	scan->line_begins = *scan->pos == '\n' || (scan->line_begins &&
	    (*scan->pos == ' ' || *scan->pos == '\t'));
	scan->line += *scan->pos == '\n';
	scan->pos += step;
}

/*
 * What libconfig would not refuse: NUL octets, behind which it would not look;
 * strings and comments without an end, which swallow the settings in them; and
 * @include, which would let lines come from elsewhere.  The first is an error
 * in diag; returns whether there is none.
 */
static bool
config_syntax_check(const char *path, const char *text, size_t length,
    struct diag *diag)
{
	struct scan scan = { text, text + length, IN_SETTINGS, 1, 1, true };
	const char *why = NULL;

	while (scan.pos < scan.end && why == NULL) {
		if (*scan.pos == '\0')
			why = "a NUL octet: this is not a configuration file";
		else if (scan.state == IN_SETTINGS && scan.line_begins &&
		    scan_sees(&scan, "@include"))
			why = "@include is not supported: write it here, or "
			    "for nfdnsd.conf into a file in conf.d";
		else
			scan_step(&scan);
	}
	if (why == NULL && scan.state == IN_STRING) {
		why = "a string begins here that has no end: close it with \"";
		scan.line = scan.opened;
	} else if (why == NULL && scan.state == IN_COMMENT) {
		why = "a comment begins here that has no end: close it with "
		    "*/";
		scan.line = scan.opened;
	}
	if (why != NULL)
		diag_add(diag, DIAG_ERROR, path, scan.line, "%s", why);
	return why == NULL;
}

char *
config_file_read(const char *path, size_t *length, struct diag *diag)
{
	struct small_file file;
	const int error = small_file_read_at(AT_FDCWD, path, 0,
	    CONFIG_MAX_OCTETS, &file);

	*length = file.length;
	if (error < 0)
		diag_add(diag, DIAG_ERROR, path, 0, "cannot be read: %s%s",
		    small_file_error(error), error == -EMFILE ?
		    "; raise LimitNOFILE" : error == -ENOENT ?
		    "; name the configuration file with -c" : "");
	return file.octets;
}

/* libconfig's tree of text that ends with a NUL. */
static bool
parse_tree(config_t *tree, const char *path, const char *text,
    struct diag *diag)
{
	const char *why;

	if (config_read_string(tree, text) == CONFIG_TRUE)
		return true;
	why = config_error_text(tree);
	diag_add(diag, DIAG_ERROR, path, (unsigned int)config_error_line(tree),
	    "%s; %s", why, strstr(why, "duplicate") != NULL ?
	    "a group or option stands here that is in the file already: make "
	    "one of the two" : "a setting is written NAME = VALUE; and each "
	    "bracket is closed (libconfig syntax, see nfdnsd.conf(5))");
	return false;
}

/* Settings that stand in no file of the user's. */
static void
forget_lines(config_setting_t *setting)
{
	int count = config_setting_length(setting);

	setting->line = 0;
	for (int i = 0; i < count; i++)
		forget_lines(config_setting_get_elem(setting,
		    (unsigned int)i));
}

static bool
parse_defaults(config_t *tree, const struct config_load *load)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool fine = false;

	if (out != NULL) {
		config_option_print(load->options, load->option_count, out);
		if (fclose(out) == 0)
			fine = parse_tree(tree, "defaults", text, load->diag);
		if (fine)
			forget_lines(config_root_setting(tree));
	} else
		diag_add(load->diag, DIAG_ERROR, NULL, 0, "out of memory");
	free(text);
	return fine;
}

/* "number, workers, maxlen": the keys that may stand below prefix. */
static const char *
known_keys(const struct config_load *load, const char *prefix,
    char buf[static CONFIG_TEXT_SIZE])
{
	size_t n = 0, skip = strlen(prefix), last = 0;
	const char *before = "";

	buf[0] = '\0';
	for (size_t i = 0; i < load->option_count; i++) {
		const char *key = load->options[i].path + skip;
		size_t length;

		if (strncmp(load->options[i].path, prefix, skip) != 0)
			continue;
		length = strcspn(key, ".[");
		/* Options of one group stand together. */
		if (length == last && strncmp(before, key, length) == 0)
			continue;
		before = key;
		last = length;
		n += (size_t)snprintf(buf + n, CONFIG_TEXT_SIZE - n, "%s%.*s",
		    n == 0 ? "" : ", ", (int)length, key);
		if (n >= CONFIG_TEXT_SIZE)
			break;
	}
	return buf;
}

static bool
is_group_path(const struct config_load *load, const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < load->option_count; i++)
		if (strncmp(load->options[i].path, path, length) == 0 &&
		    load->options[i].path[length] == '.')
			return true;
	return false;
}

/*
 * What may have been meant: an option that stands here, else the one of that
 * very name in another group.
 */
static const char *
meant(const struct config_load *load, const char *prefix, const char *name,
    char buf[static CONFIG_TEXT_SIZE])
{
	size_t skip = strlen(prefix);
	char text[SUGGEST_TEXT];
	struct suggest s;

	suggest_start(&s, name);
	for (size_t i = 0; i < load->option_count; i++) {
		const char *key = load->options[i].path + skip;

		if (strncmp(load->options[i].path, prefix, skip) == 0)
			suggest_offer(&s, key, strcspn(key, ".["));
	}
	(void)snprintf(buf, CONFIG_TEXT_SIZE, "%s", suggest_text(&s, text));
	for (size_t i = 0; buf[0] == '\0' && i < load->option_count; i++) {
		const char *path = load->options[i].path;
		const char *dot = strrchr(path, '.');

		if (dot != NULL && strcmp(dot + 1, name) == 0)
			(void)snprintf(buf, CONFIG_TEXT_SIZE,
			    ", did you mean %s?", path);
	}
	return buf;
}

static void
report_unknown(const struct config_load *load, const config_setting_t *setting)
{
	char pattern[CONFIG_TEXT_SIZE], keys[CONFIG_TEXT_SIZE], *dot;
	char guess[CONFIG_TEXT_SIZE];

	config_setting_path(setting, true, pattern);
	dot = strrchr(pattern, '.');
	if (dot != NULL)
		dot[1] = '\0';
	else
		pattern[0] = '\0';
	(void)meant(load, pattern, setting->name != NULL ? setting->name : "",
	    guess);
	config_wrong(load, setting, "unknown option%s known here: %s",
	    guess[0] != '\0' ? guess : ";", known_keys(load, pattern, keys));
}

/*
 * Refuses what is in the file and not in the table of options.  Goes down only
 * where the table does, so never deep.
 */
static void
check_keys(const struct config_load *load, const config_setting_t *group)
{
	char path[CONFIG_TEXT_SIZE];
	int count = config_setting_length(group);

	for (int i = 0; i < count; i++) {
		const config_setting_t *s = config_setting_get_elem(group,
		    (unsigned int)i);
		const struct config_option *option;

		config_setting_path(s, true, path);
		option = config_option_among(load, path);
		if (option != NULL) {
			if ((option->types & OPTION_GROUP) != 0 &&
			    !option->any_keys && config_setting_is_list(s))
				check_keys(load, s);
		} else if (!is_group_path(load, path))
			report_unknown(load, s);
		else if (config_setting_is_group(s))
			check_keys(load, s);
		else if (s->name != NULL)
			config_wrong(load, s, "expected a group { ... }");
	}
}

/* The texts, parsed. */
struct trees {
	config_t *list;
	const struct config_text *texts;
	size_t count;
	config_t defaults;
};

/* "load" while that text is being read. */
static struct config_load
in_text(const struct config_load *load, const struct config_text *text)
{
	struct config_load own = *load;

	own.file = text->path;
	own.path = text->absolute;
	return own;
}

/* Of a list, what all files have; else what the last one has. */
static void
read_option(const struct config_load *load, const struct trees *trees,
    const struct config_option *option)
{
	const int most = option->items > 0 ? option->items : CONFIG_MAX_ITEMS;
	size_t found = 0;
	int sum = 0;

	for (size_t i = trees->count; i-- > 0;) {
		const struct config_load own = in_text(load, &trees->texts[i]);
		const config_setting_t *value = config_lookup(&trees->list[i],
		    option->path);

		if (value == NULL)
			continue;
		found++;
		sum += option->list ? config_setting_length(value) : 1;
		if (sum > most && option->list && found > 1)
			config_wrong(&own, value, "%d items with those of other "
			    "files; at most %d are allowed", sum, most);
		else if (!option->list) {
			config_option_read(&own, option, value, load->base);
			return;
		}
	}
	if (found == 0 && option->fallback != NULL)
		config_option_read(load, option, config_lookup(&trees->defaults,
		    option->path), load->base);
	else if (found == 0 && option->required)
		diag_add(load->diag, DIAG_ERROR, load->file, 0,
		    "\"%s\" is missing", option->path);
	for (size_t i = 0; i < trees->count && (sum <= most ||
	    found == 1); i++) {
		const struct config_load own = in_text(load, &trees->texts[i]);
		const config_setting_t *value = config_lookup(&trees->list[i],
		    option->path);

		if (value != NULL)
			config_option_read(&own, option, value, load->base);
	}
}

char *
config_file_absolute(const char *path)
{
	char *directory, *result = NULL;

	if (path[0] == '/')
		return strdup(path);
	directory = getcwd(NULL, 0);
	if (directory != NULL && asprintf(&result, "%s/%s", directory,
	    path) < 0)
		result = NULL;
	free(directory);
	return result;
}

static bool
parse_text(const struct config_load *load, const struct config_text *text,
    config_t *tree)
{
	/* First: a text with a NUL in it would be cut off there. */
	char *copy = config_syntax_check(text->path, text->text, text->length,
	    load->diag) ? strndup(text->text, text->length) : NULL;
	bool good;

	if (copy == NULL)
		return false;
	good = parse_tree(tree, text->path, copy, load->diag);
	free(copy);
	return good;
}

bool
config_file_parse(const struct config_load *load,
    const struct config_text *texts, size_t count)
{
	struct trees trees = { .texts = texts, .count = count,
		.list = calloc(count + 1, sizeof(*trees.list)) };
	const size_t errors = load->diag->errors;
	bool good = trees.list != NULL;

	config_init(&trees.defaults);
	for (size_t i = 0; i < count && trees.list != NULL; i++) {
		config_init(&trees.list[i]);
		good &= parse_text(load, &texts[i], &trees.list[i]);
	}
	good = good && parse_defaults(&trees.defaults, load);
	for (size_t i = 0; i < count && good; i++) {
		const struct config_load own = in_text(load, &texts[i]);

		check_keys(&own, config_root_setting(&trees.list[i]));
	}
	for (size_t i = 0; i < load->option_count && good; i++)
		if (strchr(load->options[i].path, '[') == NULL)
			read_option(load, &trees, &load->options[i]);
	if (good && load->check != NULL && load->diag->errors == errors)
		load->check(load, config_root_setting(&trees.list[0]));
	for (size_t i = 0; i < count && trees.list != NULL; i++)
		config_destroy(&trees.list[i]);
	config_destroy(&trees.defaults);
	free(trees.list);
	if (!good && load->diag->errors == errors)
		diag_add(load->diag, DIAG_ERROR, load->file, 0,
		    "out of memory");
	return load->diag->errors == errors;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The option reference of a manual page, from the table of options:
 *
 *	options nfdnsd.conf|feed.conf <PAGE.in >PAGE
 *
 * In PAGE.in, from the line
 *	.\" options NAME...
 * to ".\" end" stands what the table does not say: ".It Va OPTION" and more about
 * it.  All of that becomes a list of the options with these names, and of what is
 * in the groups and lists of these names.  ".\" index" becomes all names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config/feed_config.h"
#include "policy/config/setting.h"

#define LINE		1024
#define OPTIONS_MAX	256
#define MARK		".\\\" "

static const struct config_option *options;
static size_t option_count;
static char *more[OPTIONS_MAX];		/* about each, as mdoc(7); NULL: nothing */
static bool written[OPTIONS_MAX];

__attribute__((noreturn))
static void
fail(const char *what, const char *how)
{
	(void)fprintf(stderr, "options: %s %s\n", what, how);
	exit(1);
}

/* Sentences on lines of their own; no line is a macro. */
static void
put_text(const char *text)
{
	for (bool begins = true; *text != '\0'; text++) {
		if (begins && (*text == '.' || *text == '\''))
			(void)fputs("\\&", stdout);
		begins = strncmp(text, ".  ", 3) == 0;
		if (*text == '\\')
			(void)fputs("\\e", stdout);
		else
			(void)putchar(*text);
		if (begins) {
			(void)putchar('\n');
			text += 2;
		}
	}
	(void)putchar('\n');
}

static void
put_item(size_t i)
{
	const struct config_option *o = &options[i];
	char allowed[CONFIG_TEXT_SIZE];

	if (written[i])
		fail(o->path, "is in two lists");
	written[i] = true;
	(void)printf(".It Va %s\n", o->path);
	put_text(o->about);
	if (more[i] != NULL)
		(void)fputs(more[i], stdout);
	if (!o->about_allows)
		(void)printf(".br\nAllowed: %s%s.\n", o->list ? "a list of " : "",
		    config_option_expected(o, allowed));
	(void)puts(".br");
	if (o->fallback != NULL)
		(void)printf("Default: %s.\n", *o->fallback == '\0' ? "\"\"" :
		    o->fallback);
	else
		(void)puts(o->required ? "It must be given." :
		    "It need not be given.");
	if (!o->reload && !o->worker && strchr(o->path, '[') == NULL)
		(void)puts("A change needs a restart.");
}

/* Whether it is the option of that name, or in the group or list of it. */
static bool
is_named(const struct config_option *o, const char *name)
{
	const size_t length = strlen(name);

	return strncmp(o->path, name, length) == 0 &&
	    (o->path[length] == '\0' || o->path[length] == '.' ||
	    o->path[length] == '[');
}

static void
put_list(char *names)
{
	(void)puts(".Bl -tag -width Ds");
	for (char *name; (name = strsep(&names, " ")) != NULL;)
		for (size_t i = 0; i < option_count; i++)
			if (is_named(&options[i], name))
				put_item(i);
	(void)puts(".El");
}

/* Whether two options stand in one paragraph of the index. */
static bool
are_together(const char *a, const char *b)
{
	const size_t length = strcspn(a, ".[");

	return (length == strcspn(b, ".[") && strncmp(a, b, length) == 0) ||
	    (a[length] == '\0' && b[strcspn(b, ".[")] == '\0');
}

static void
put_index(void)
{
	for (size_t i = 0; i < option_count; i++) {
		const bool more_come = i + 1 < option_count &&
		    are_together(options[i].path, options[i + 1].path);

		(void)printf(".Va %s%s\n", options[i].path,
		    more_come ? " ," : "");
		if (!more_come && i + 1 < option_count)
			(void)puts(".Pp");
	}
}

/* Reads what is said of options up to the end of the list. */
static void
read_more(void)
{
	char line[LINE];
	size_t i = option_count;

	while (fgets(line, sizeof(line), stdin) != NULL &&
	    strcmp(line, MARK "end\n") != 0) {
		char *whole;

		if (strncmp(line, ".It Va ", 7) == 0) {
			line[strcspn(line, "\n")] = '\0';
			for (i = 0; i < option_count && strcmp(options[i].path,
			    line + 7) != 0; i++)
				;
			if (i == option_count)
				fail(line + 7, "does not exist");
			continue;
		}
		if (i == option_count)
			fail("a text belongs to no option:", line);
		if (asprintf(&whole, "%s%s", more[i] != NULL ? more[i] : "",
		    line) < 0)
			fail(line, "is too much for the memory");
		free(more[i]);
		more[i] = whole;
	}
}

int
main(int argc, char **argv)
{
	char line[LINE];

	if (argc == 2 && strcmp(argv[1], "nfdnsd.conf") == 0) {
		options = config_options;
		option_count = config_option_count;
	} else if (argc == 2 && strcmp(argv[1], "feed.conf") == 0) {
		options = feed_options;
		option_count = feed_option_count;
	} else
		fail("nfdnsd.conf|feed.conf", "<PAGE.in >PAGE");
	if (option_count > OPTIONS_MAX)
		fail(argv[1], "has too many options: raise OPTIONS_MAX");
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (strncmp(line, MARK "options ", sizeof(MARK) + 7) == 0) {
			line[strcspn(line, "\n")] = '\0';
			read_more();
			put_list(line + sizeof(MARK) + 7);
		} else if (strcmp(line, MARK "index\n") == 0)
			put_index();
		else
			(void)fputs(line, stdout);
	}
	for (size_t i = 0; i < option_count; i++)
		if (!written[i])
			fail(options[i].path, "is in no list");
	for (size_t i = 0; i < option_count; i++)
		free(more[i]);
	return fflush(stdout) == 0 ? 0 : 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/commands.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "resolver/text/suggest.h"

#define LONG_ONLY 256		/* above all letters */

/* The table as getopt_long(3) wants it. */
struct getopt_table {
	struct option list[COMMAND_OPTIONS_MOST + 1];
	char letters[1 + 2 * COMMAND_OPTIONS_MOST + 1];
};

static int
value_of(const struct command_option *table, size_t row)
{
	return table[row].letter != 0 ? table[row].letter :
	    LONG_ONLY + (int)row;
}

/* Into one that is zeros. */
static void
translate(struct getopt_table *to, const struct command_option *table)
{
	char *letter = to->letters;

	*letter++ = ':';
	for (size_t i = 0; table[i].name != NULL; i++) {
		assert(i < COMMAND_OPTIONS_MOST);
		to->list[i] = (struct option){ .name = table[i].name,
			.has_arg = table[i].valued ? required_argument :
			no_argument, .val = value_of(table, i) };
		if (table[i].letter == 0)
			continue;
		*letter++ = table[i].letter;
		if (table[i].valued)
			*letter++ = ':';
	}
}

/* NULL, or what is wrong with the value. */
static const char *
take(const struct command_option *option, void *to, const char *value)
{
	char *member = (char *)to + option->offset;

	if (option->read != NULL)
		return option->read(to, value);
	if (option->valued)
		memcpy(member, &value, sizeof(value));
	else
		memcpy(member, &(const bool){ true }, sizeof(bool));
	return NULL;
}

int
command_options_read(const struct command_option *table, const char *program,
    void *to, int argc, char **argv)
{
	struct getopt_table known = { .letters = "" };
	const char *why;
	int value;

	translate(&known, table);
	optind = opterr = 0;	/* glibc: start again with another argv */
	while ((value = getopt_long(argc, argv, known.letters, known.list,
	    NULL)) != -1) {
		size_t row = 0;

		if (value == '?' || value == ':') {
			suggest_option(stderr, program, value, argv,
			    known.list);
			return -1;
		}
		while (value_of(table, row) != value)
			row++;
		why = take(&table[row], to, optarg);
		if (why != NULL) {
			suggest_usage(stderr, program, "\"%s\": %s", optarg,
			    why);
			return -1;
		}
	}
	return optind;
}

bool
command_options_only(const struct command_option *table, const char *program,
    void *to, int argc, char **argv)
{
	const int first = command_options_read(table, program, to, argc, argv);

	if (first < 0 || first == argc)
		return first == argc;
	suggest_usage(stderr, program, "unknown argument \"%s\"", argv[first]);
	return false;
}

bool
command_options_ask_help(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "-h") == 0 ||
		    strcmp(argv[i], "--help") == 0)
			return true;
	return false;
}

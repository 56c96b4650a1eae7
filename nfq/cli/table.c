/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/table.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/compile/compile.h"
#include "nfq/process/exit_code.h"
#include "nfq/cli/progress.h"
#include "resolver/dns/rr.h"
#include "resolver/compile/source_files.h"
#include "resolver/text/suggest.h"
#include "resolver/image/table.h"
#include "resolver/listing/table_addresses.h"
#include "resolver/listing/table_diff.h"
#include "resolver/listing/table_print.h"

/* What the command line asked for. */
struct request {
	const struct mesh *mesh;
	int running;			/* the daemon's image */
	struct side {
		const char *image;	/* -i; NULL: the daemon's */
	} sides[2];			/* what is left out is the config's tables */
	unsigned int side_count;
	const char *output;		/* -o */
	bool json;
	char **words;			/* what is left */
	int word_count;
};

struct action {
	const char *name;
	const char *options;		/* of getopt */
	int min_words, max_words;
	unsigned int min_sides, max_sides;
	int (*run)(const struct request *);
	const char *help;
};

static int table_compile(const struct request *);
static int table_list(const struct request *);
static int table_get(const struct request *);
static int table_given(const struct request *);
static int table_diff(const struct request *);

static const struct action actions[] = {
	{ "compile", "o:h", 0, 0, 0, 0, table_compile,
	  "nfdns table compile -o FILE\n"
	  "  Compiles the config's tables into one image.\n"
	  "  -o, --output FILE  where to write it; replaced at one go\n" },
	{ "list", "i:rjh", 0, 0, 0, 1, table_list,
	  "nfdns table list [-i IMAGE | --running] [--json]\n"
	  "  Prints every record of the table, sorted by name.\n"
	  "  -i, --image IMAGE  of this image instead of the config's tables\n"
	  "  -r, --running      of the running daemon instead\n"
	  "  -j, --json         one JSON object a name\n" },
	{ "get", "i:rjh", 1, 2, 0, 1, table_get,
	  "nfdns table get [-i IMAGE | --running] [--json] NAME [TYPE]\n"
	  "  Prints what the table holds for NAME, how it was found and where\n"
	  "  it came from.  Exit code 1: the table has no such name or type.\n"
	  "  The answer that a client gets is shown by dig NAME TYPE.\n"
	  "  -i, --image IMAGE  of this image instead of the config's tables\n"
	  "  -r, --running      of the running daemon instead\n"
	  "  -j, --json         as one JSON object\n" },
	{ "addresses", "i:rjh", 0, 0, 0, 1, table_given,
	  "nfdns table addresses [-i IMAGE | --running] [--json]\n"
	  "  Prints which ServiceEntry's host has which address of\n"
	  "  240.240.0.0/16 and 2001:2::/48, in the order of addresses.\n"
	  "  -i, --image IMAGE  of this image instead of the config's tables\n"
	  "  -r, --running      of the running daemon instead\n"
	  "  -j, --json         one JSON object an address\n" },
	{ "diff", "i:rjh", 0, 0, 1, 2, table_diff,
	  "nfdns table diff [--json] SIDE [SIDE]\n"
	  "  Prints what the second has and the first has not (+), and the other\n"
	  "  way round (-).  A side is one of these two; a second that is left\n"
	  "  out is the config's tables: \"nfdns table diff -r\" shows what a\n"
	  "  reload would change.  Exit code 1: they differ.\n"
	  "  -i, --image IMAGE  this image\n"
	  "  -r, --running      the running daemon's table\n"
	  "  -j, --json         one JSON object a name\n" },
};

#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

static void
print_diag(const struct diag *diag)
{
	for (size_t i = 0; i < diag->kept; i++)
		fprintf(stderr, "nfdns: %s%s\n",
		    diag->entries[i].level == DIAG_WARNING ? "warning: " : "",
		    diag->entries[i].text);
	if (diag_dropped(diag) > 0)
		fprintf(stderr, "nfdns: and %zu more errors and warnings\n",
		    diag_dropped(diag));
}

/* Compiles the mesh's sources into fd, printing what is wrong with them. */
static int
compile_into(const struct mesh *mesh, int fd)
{
	struct diag diag = DIAG_INIT;
	struct source_files files;
	int error = source_files_open(&files, mesh, &diag);

	if (error == 0) {
		progress_start("compiling the tables");
		error = compile(&files.mesh, files.fds, fd, &diag);
		progress_stop();
	}
	source_files_close(&files);
	print_diag(&diag);
	if (error != 0 && diag.errors == 0)
		fprintf(stderr, "nfdns: cannot compile the tables: %s\n",
		    strerror(-error));
	diag_free(&diag);
	return error;
}

/* An fd with the image of one side, or -1 after a message. */
static int
open_side(const struct request *r, const struct side *side, int *exit_code)
{
	const char *name = side == NULL ? "memory file" :
	    side->image != NULL ? side->image : "the daemon's table";
	int fd;

	*exit_code = EXIT_ERROR;
	if (side == NULL)
		fd = memfd_create("nfdns-table", MFD_CLOEXEC);
	else if (side->image != NULL)
		fd = open(side->image, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	else
		fd = fcntl(r->running, F_DUPFD_CLOEXEC, 0);
	if (fd < 0) {
		fprintf(stderr, "nfdns: %s: cannot be opened: %s\n", name,
		    strerror(errno));
		return -1;
	}
	*exit_code = EXIT_INVALID;
	if (side != NULL || compile_into(r->mesh, fd) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

/*
 * The nth table that was asked about, the config's if there is no such side;
 * NULL and *exit_code after a message.
 */
static struct table *
open_table(const struct request *r, unsigned int n, int *exit_code)
{
	const struct side *side = n < r->side_count ? &r->sides[n] : NULL;
	int fd = open_side(r, side, exit_code);
	struct table *table = NULL;
	const char *why = NULL;

	if (fd < 0)
		return NULL;
	if (table_open(&table, fd, &why) != 0)
		fprintf(stderr, "nfdns: %s: %s\n", side == NULL ?
		    "compiled image" : side->image != NULL ? side->image :
		    "the daemon's table", why);
	(void)close(fd);
	return table;
}

/* Whether all that was printed has arrived. */
static int
finish_output(int exit_code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return exit_code;
	fprintf(stderr, "nfdns: cannot write the output: %s\n",
	    strerror(errno));
	return EXIT_ERROR;
}

static int
table_list(const struct request *r)
{
	int exit_code;
	struct table *table = open_table(r, 0, &exit_code);
	int error;

	if (table == NULL)
		return exit_code;
	error = r->json ? table_print_json(table, stdout) :
	    table_print(table, stdout);
	table_close(table);
	if (error != 0) {
		fprintf(stderr, "nfdns: cannot print the table: %s\n",
		    strerror(-error));
		return EXIT_ERROR;
	}
	return finish_output(EXIT_OK);
}

static int
table_given(const struct request *r)
{
	int exit_code;
	struct table *table = open_table(r, 0, &exit_code);
	int error;

	if (table == NULL)
		return exit_code;
	error = table_addresses(table, r->json, stdout);
	table_close(table);
	if (error != 0) {
		fprintf(stderr, "nfdns: cannot print the addresses: %s\n",
		    strerror(-error));
		return EXIT_ERROR;
	}
	return finish_output(EXIT_OK);
}

static int
table_get(const struct request *r)
{
	const char *text = r->words[0];
	uint16_t type = TYPE_ANY;
	struct dns_name name;
	struct table *table;
	int exit_code, found;

	if (name_from_text(&name, text, strlen(text)) != 0) {
		fprintf(stderr, "nfdns: \"%s\" is no domain name\n", text);
		return EXIT_USAGE;
	}
	if (r->word_count > 1 && rr_type_from_text(&type, r->words[1]) != 0) {
		fprintf(stderr, "nfdns: \"%s\" is no type: give one such as A,"
		    " AAAA or TYPE65\n", r->words[1]);
		return EXIT_USAGE;
	}
	name_lower(&name);
	table = open_table(r, 0, &exit_code);
	if (table == NULL)
		return exit_code;
	found = r->json ? table_print_find_json(table, &name, type, stdout) :
	    table_print_find(table, &name, type, stdout);
	table_close(table);
	if (found < 0) {
		fprintf(stderr, "nfdns: cannot print the name: %s\n",
		    strerror(-found));
		return EXIT_ERROR;
	}
	return finish_output(found > 0 ? EXIT_OK : EXIT_ERROR);
}

static int
table_diff(const struct request *r)
{
	int exit_code, differ = 0;
	struct table *before = open_table(r, 0, &exit_code);
	struct table *after = before != NULL ? open_table(r, 1, &exit_code) :
	    NULL;

	if (after == NULL) {
		table_close(before);
		return exit_code;
	}
	differ = r->json ? table_diff_print_json(before, after, stdout) :
	    table_diff_print(before, after, stdout);
	table_close(before);
	table_close(after);
	if (differ < 0) {
		fprintf(stderr, "nfdns: cannot print the difference: %s\n",
		    strerror(-differ));
		return EXIT_ERROR;
	}
	return finish_output(differ > 0 ? EXIT_ERROR : EXIT_OK);
}

/* Compiles into fd, which is to become r->output. */
static int
compile_output(const struct request *r, int fd)
{
	struct table *table;
	const char *why;

	if (compile_into(r->mesh, fd) != 0)
		return EXIT_INVALID;
	if (fchmod(fd, 0644) != 0 || fsync(fd) != 0) {
		fprintf(stderr, "nfdns: %s: cannot be written: %s\n",
		    r->output, strerror(errno));
		return EXIT_ERROR;
	}
	if (table_open(&table, fd, &why) != 0) {
		fprintf(stderr, "nfdns: %s: %s\n", r->output, why);
		return EXIT_ERROR;
	}
	printf("%zu names, %zu octets\n", table_names(table),
	    table_octets(table));
	table_close(table);
	return EXIT_OK;
}

static int
table_compile(const struct request *r)
{
	int exit_code = EXIT_ERROR;
	char *draft = NULL;
	int fd;

	if (r->output == NULL) {
		fprintf(stderr, "nfdns: table compile: give the file to write"
		    " with -o FILE\n");
		return EXIT_USAGE;
	}
	/* Beside the output, so that renaming replaces it at one go. */
	if (asprintf(&draft, "%s.XXXXXX", r->output) < 0) {
		fprintf(stderr, "nfdns: out of memory\n");
		return EXIT_ERROR;
	}
	fd = mkostemp(draft, O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "nfdns: %s: cannot be created: %s\n",
		    r->output, strerror(errno));
		free(draft);
		return EXIT_ERROR;
	}
	exit_code = compile_output(r, fd);
	if (exit_code == EXIT_OK && rename(draft, r->output) != 0) {
		fprintf(stderr, "nfdns: %s: cannot be replaced: %s\n",
		    r->output, strerror(errno));
		exit_code = EXIT_ERROR;
	}
	if (exit_code != EXIT_OK)
		(void)unlink(draft);
	(void)close(fd);
	free(draft);
	return finish_output(exit_code);
}

static void
print_help(FILE *out)
{
	for (size_t i = 0; i < ACTIONS; i++)
		fputs(actions[i].help, out);
	fputs("Exit codes: 0 fine, 1 error or not found, 2 usage, 3 not"
	    " running,\n4 invalid tables or image.\n", out);
}

/* Whether there are as many tables and words as there should be; as below. */
static int
check_number(const struct action *action, const struct request *r)
{
	const char *why = NULL;

	if (r->side_count < action->min_sides)
		why = "a table is missing: -i IMAGE or --running";
	else if (r->side_count > action->max_sides)
		why = "too many tables";
	else if (r->word_count < action->min_words)
		why = "a name is missing";
	else if (r->word_count > action->max_words)
		why = "too many arguments";
	if (why == NULL)
		return -1;
	fprintf(stderr, "nfdns: table %s: %s\n%s", action->name, why,
	    action->help);
	return EXIT_USAGE;
}

/* Options and words of one action.  Returns an exit code, or -1 to go on. */
static int
read_options(const struct action *action, struct request *r, int argc,
    char **argv)
{
	static const struct option options[] = {
		{ "image", required_argument, NULL, 'i' },
		{ "running", no_argument, NULL, 'r' },
		{ "output", required_argument, NULL, 'o' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	static char name[] = "nfdns table";
	int option;

	argv[0] = name;	/* in getopt's messages */
	optind = opterr = 0;	/* glibc: begin anew, with another argv */
	while ((option = getopt_long(argc, argv, ":i:ro:jh", options,
	    NULL)) != -1) {
		if (option == '?' || option == ':')
			suggest_option(stderr, name, option, argv, options);
		else if (strchr(action->options, option) == NULL) {
			fprintf(stderr, "nfdns: table %s has no option -%c\n",
			    action->name, option);
			option = '?';
		}
		switch (option) {
		case 'i':
		case 'r':
			if (r->side_count < 2)
				r->sides[r->side_count].image =
				    option == 'i' ? optarg : NULL;
			r->side_count++;
			break;
		case 'o':
			r->output = optarg;
			break;
		case 'j':
			r->json = true;
			break;
		case 'h':
			fputs(action->help, stdout);
			return EXIT_OK;
		default:	/* was told */
			fputs(action->help, stderr);
			return EXIT_USAGE;
		}
	}
	r->words = argv + optind;
	r->word_count = argc - optind;
	return check_number(action, r);
}

int
cmd_table(const struct mesh *mesh, int running, int argc, char **argv)
{
	struct request request = { .mesh = mesh, .running = running };
	const char *name = argc > 1 ? argv[1] : NULL;

	if (name != NULL && (strcmp(name, "--help") == 0 ||
	    strcmp(name, "-h") == 0)) {
		print_help(stdout);
		return EXIT_OK;
	}
	for (size_t i = 0; name != NULL && i < ACTIONS; i++) {
		int exit_code;

		if (strcmp(actions[i].name, name) != 0)
			continue;
		exit_code = read_options(&actions[i], &request, argc - 1,
		    argv + 1);
		return exit_code >= 0 ? exit_code : actions[i].run(&request);
	}
	if (name != NULL)
		fprintf(stderr, "nfdns: table has no command \"%s\"\n", name);
	print_help(stderr);
	return EXIT_USAGE;
}

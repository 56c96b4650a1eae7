/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/cmd_table.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/compile.h"
#include "resolver/exit_code.h"
#include "resolver/rr.h"
#include "resolver/table.h"
#include "resolver/table_addresses.h"
#include "resolver/table_print.h"

/* What the command line asked for. */
struct request {
	const struct mesh *mesh;
	const char *image;		/* -i */
	const char *output;		/* -o */
	bool json;
	char **words;			/* what is left */
	int word_count;
};

struct action {
	const char *name;
	const char *options;		/* of getopt */
	int min_words, max_words;
	int (*run)(const struct request *);
	const char *help;
};

static int table_compile(const struct request *);
static int table_list(const struct request *);
static int table_get(const struct request *);
static int table_given(const struct request *);

static const struct action actions[] = {
	{ "compile", "o:h", 0, 0, table_compile,
	  "nfdns table compile -o FILE\n"
	  "  Compiles the config's tables into one image.\n"
	  "  -o, --output FILE  where to write it; replaced at one go\n" },
	{ "list", "i:jh", 0, 0, table_list,
	  "nfdns table list [-i IMAGE] [--json]\n"
	  "  Prints every record of the table, sorted by name.\n"
	  "  -i, --image IMAGE  of this image instead of the config's tables\n"
	  "  -j, --json         one JSON object a name\n" },
	{ "get", "i:jh", 1, 2, table_get,
	  "nfdns table get [-i IMAGE] [--json] NAME [TYPE]\n"
	  "  Prints what the table holds for NAME, how it was found and where\n"
	  "  it came from.  Exit code 1: the table has no such name or type.\n"
	  "  -i, --image IMAGE  of this image instead of the config's tables\n"
	  "  -j, --json         as one JSON object\n" },
	{ "addresses", "i:jh", 0, 0, table_given,
	  "nfdns table addresses [-i IMAGE] [--json]\n"
	  "  Prints which ServiceEntry's host has which address of\n"
	  "  240.240.0.0/16 and 2001:2::/48, in the order of addresses.\n"
	  "  -i, --image IMAGE  of this image instead of the config's tables\n"
	  "  -j, --json         one JSON object an address\n" },
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
	int *sources;
	int error;

	sources = malloc((mesh->source_count + 1) * sizeof(*sources));
	if (sources == NULL)
		return -ENOMEM;
	error = compile_open(mesh, sources, &diag);
	if (error == 0)
		error = compile(mesh, sources, fd, &diag);
	for (size_t i = 0; i < mesh->source_count; i++) {
		if (sources[i] >= 0)
			(void)close(sources[i]);
	}
	free(sources);
	print_diag(&diag);
	if (error != 0 && diag.errors == 0)
		fprintf(stderr, "nfdns: cannot compile the tables: %s\n",
		    strerror(-error));
	diag_free(&diag);
	return error;
}

/* The table that was asked about; NULL and *exit_code after a message. */
static struct table *
open_table(const struct request *r, int *exit_code)
{
	struct table *table = NULL;
	const char *why = NULL;
	int fd;

	*exit_code = EXIT_ERROR;
	if (r->image != NULL)
		fd = open(r->image, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	else
		fd = memfd_create("nfdns-table", MFD_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "nfdns: %s: cannot be opened: %s\n",
		    r->image != NULL ? r->image : "memory file",
		    strerror(errno));
		return NULL;
	}
	*exit_code = EXIT_INVALID;
	if ((r->image != NULL || compile_into(r->mesh, fd) == 0) &&
	    table_open(&table, fd, &why) != 0)
		fprintf(stderr, "nfdns: %s: %s\n",
		    r->image != NULL ? r->image : "compiled image", why);
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
	struct table *table = open_table(r, &exit_code);
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
	struct table *table = open_table(r, &exit_code);
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
	table = open_table(r, &exit_code);
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
	fputs("Exit codes: 0 fine, 1 error or not found, 2 usage, 4 invalid"
	    " tables or image.\n", out);
}

/* Options and words of one action.  Returns an exit code, or -1 to go on. */
static int
read_options(const struct action *action, struct request *r, int argc,
    char **argv)
{
	static const struct option options[] = {
		{ "image", required_argument, NULL, 'i' },
		{ "output", required_argument, NULL, 'o' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	optind = 0;	/* glibc: begin anew, with another argv */
	while ((option = getopt_long(argc, argv, "i:o:jh", options,
	    NULL)) != -1) {
		if (option != '?' && strchr(action->options, option) == NULL) {
			fprintf(stderr, "nfdns: table %s has no option -%c\n",
			    action->name, option);
			option = '?';
		}
		switch (option) {
		case 'i':
			r->image = optarg;
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
		default:
			fputs(action->help, stderr);
			return EXIT_USAGE;
		}
	}
	r->words = argv + optind;
	r->word_count = argc - optind;
	if (r->word_count >= action->min_words &&
	    r->word_count <= action->max_words)
		return -1;
	fprintf(stderr, "nfdns: table %s: %s\n%s", action->name,
	    r->word_count < action->min_words ? "a name is missing" :
	    "too many arguments", action->help);
	return EXIT_USAGE;
}

int
cmd_table(const struct mesh *mesh, int argc, char **argv)
{
	struct request request = { .mesh = mesh };
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/cli/message.h"
#include "nfq/cli/progress.h"
#include "nfq/process/compiler.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"
#include "resolver/fds.h"
#include "resolver/idn.h"
#include "resolver/image/table.h"
#include "resolver/listing/table_list.h"
#include "resolver/text/json_write.h"
#include "resolver/text/printable.h"
#include "resolver/text/suggest.h"

/*
 * Prints a table: for people as lines of a zone file; for programs as JSON, one
 * object a line with "name", "owned", "source", "line" and "records".
 */
/* Steps through the records of an RRset; start with *index = 0. */
static bool
next_record(const struct rrset *rrset, uint32_t *index, const uint8_t **data,
    size_t *length)
{
	if (*index == rrset->count)
		return false;
	if (rrset->rdlength != 0) {
		*data = rrset->rdata + (size_t)*index * rrset->rdlength;
		*length = rrset->rdlength;
	} else {
		const uint8_t *at = *index == 0 ? rrset->rdata :
		    *data + *length;

		*length = (size_t)at[0] << 8 | at[1];
		*data = at + 2;
	}
	(*index)++;
	return true;
}

/* Whether type is asked for. */
static bool
wanted(uint16_t type, uint16_t asked)
{
	return asked == TYPE_ANY || asked == type;
}

/*
 * Prints the records of a node as lines of a zone file.  Their number, or
 * -ENOMEM.
 */
static int
print_records(const struct table *table, uint32_t node, uint16_t type,
    const char *owner, FILE *out)
{
	char type_text[RR_TEXT_SIZE];
	struct rrset rrset;
	int lines = 0;

	for (size_t i = 0; table_rrset_at(table, node, i, &rrset); i++) {
		const uint8_t *data = NULL;
		uint32_t index = 0;
		size_t length = 0;

		if (!wanted(rrset.type, type))
			continue;
		while (next_record(&rrset, &index, &data, &length)) {
			char *text = rdata_to_text(rrset.type, data, length);

			if (text == NULL)
				return -ENOMEM;
			fprintf(out, "%s\t%u\tIN\t%s\t%s\n", owner, rrset.ttl,
			    rr_type_text(rrset.type, type_text), text);
			free(text);
			lines++;
		}
	}
	return lines;
}

static void
put_records(const struct rrset *rrset, struct json_write *w)
{
	char type_text[RR_TEXT_SIZE];
	const uint8_t *data = NULL;
	uint32_t index = 0;
	size_t length = 0;

	while (next_record(rrset, &index, &data, &length)) {
		char *text = rdata_to_text(rrset->type, data, length);

		if (text == NULL)
			w->error = -ENOMEM;
		json_write_open(w, NULL, '{');
		json_write_text(w, "type",
		    rr_type_text(rrset->type, type_text));
		json_write_number(w, "ttl", rrset->ttl);
		json_write_text(w, "data", text);
		json_write_close(w, '}');
		free(text);
	}
}

/* Puts the records and their source as members of the open object. */
static void
describe(const struct table *table, uint32_t node, uint8_t flags,
    uint16_t type, struct json_write *w)
{
	unsigned int source, line;
	struct rrset rrset;
	const char *path;
	size_t length;

	table_origin(table, node, &source, &line);
	path = table_source(table, source, &length);
	json_write_bool(w, "owned", (flags & NAME_OWNED) != 0);
	if (path != NULL)
		json_write_octets(w, "source", path, length);
	json_write_number(w, "line", line);
	json_write_open(w, "records", '[');
	for (size_t i = 0; table_rrset_at(table, node, i, &rrset); i++)
		if (wanted(rrset.type, type))
			put_records(&rrset, w);
	json_write_close(w, ']');
}

/* Prints all names and their records, sorted.  0 or a negative errno. */
static int
table_print(const struct table *table, FILE *out)
{
	struct table_list l = { .count = 0 };
	int error = table_list_make(&l, table);

	for (size_t i = 0; i < l.count && error >= 0 && !ferror(out); i++) {
		error = print_records(table, l.names[i].node, TYPE_ANY,
		    l.names[i].name, out);
	}
	table_list_free(&l);
	return error < 0 ? error : 0;
}

static int
table_print_json(const struct table *table, FILE *out)
{
	struct json_write w = { .out = out, .ascii = true };
	struct table_list l = { .count = 0 };
	int error = table_list_make(&l, table);

	for (size_t i = 0; i < l.count && error == 0; i++) {
		json_write_open(&w, NULL, '{');
		json_write_text(&w, "name", l.names[i].name);
		describe(table, l.names[i].node, l.names[i].flags,
		    TYPE_ANY, &w);
		json_write_close(&w, '}');
		error = json_write_end(&w);
	}
	table_list_free(&l);
	return error;
}

static const char *
kind_text(enum entry_kind kind)
{
	switch (kind) {
	case ENTRY_EXACT:
		return "exact";
	case ENTRY_WILDCARD:
		return "wildcard";
	case ENTRY_SEARCH:
		return "search";
	case ENTRY_SEARCH_WILDCARD:
		return "search-wildcard";
	case ENTRY_EMPTY:
		return "empty";
	default:
		return "none";
	}
}

/* The target of NAME.SEARCH, or the name itself. */
static const char *
target_text(const struct dns_name *name, const struct entry *entry,
    char text[static NAME_TEXT_SIZE])
{
	struct dns_name target = *name;

	if (entry->target_search != NULL)
		memcpy(target.octets + entry->target_length,
		    entry->target_search->octets,
		    entry->target_search->length);
	else if (entry->target_length != 0)
		target.octets[entry->target_length] = 0;
	return name_to_text(target.octets, text);
}

static bool
has_wanted(const struct table *table, uint32_t node, uint16_t type)
{
	struct rrset rrset;

	return type == TYPE_ANY ? table_rrset_at(table, node, 0, &rrset) :
	    table_rrset(table, node, type, &rrset);
}

static void
print_origin(const struct table *table, const struct entry *entry, FILE *out)
{
	char where[sizeof(", line ") + 3 * sizeof(int)] = "";
	unsigned int source, line;
	const char *path;
	size_t length;

	table_origin(table, entry->node, &source, &line);
	path = table_source(table, source, &length);
	if (line != 0)
		(void)snprintf(where, sizeof(where), ", line %u", line);
	if (path != NULL)
		printable_line(out, "; from %.*s%s", (int)length, path, where);
	else
		fprintf(out, "; from table %u%s\n", source + 1, where);
}

/*
 * Prints the records of one type (TYPE_ANY: all types) that the table has for a
 * lower-case name, how they were found and their source.  Returns 1 if there
 * are records, 0 if not, or a negative errno.  "outside" says what a client gets
 * for a name of no table and no zone ("is answered by ...").
 */
static int
table_print_find(const struct table *table, const struct dns_name *name,
    uint16_t type, const char *outside, FILE *out)
{
	char owner[NAME_TEXT_SIZE], target[NAME_TEXT_SIZE];
	struct entry entry;
	int lines;

	table_find(table, name, &entry);
	(void)name_to_text(name->octets, owner);
	if (entry.kind == ENTRY_NONE) {
		fprintf(out, "; %s is not in the table: a client %s\n", owner,
		    entry.in_zone && entry.unknown == ZONE_NXDOMAIN ?
		    "gets NXDOMAIN, as mesh.zones says" :
		    outside);
		return 0;
	}
	(void)target_text(name, &entry, target);
	fprintf(out, "; %s: found as %s", owner, kind_text(entry.kind));
	if (entry.target_length != 0)
		fprintf(out, ", %s search domain: %s",
		    entry.target_search != NULL ? "with another" :
		    "without the", target);
	fputs(entry.flags & NAME_OWNED ? ", owned by the mesh\n" : "\n", out);
	if (entry.node == 0) {
		fputs("; a name above others, without records\n", out);
		return 0;
	}
	print_origin(table, &entry, out);
	lines = print_records(table, entry.node, type, target, out);
	if (lines == 0)
		fprintf(out, "; no records of this type: \"dig %s TYPE\" "
		    "shows whether a client gets \"no such record\" or what "
		    "its nameserver answers\n", owner);
	return lines > 0 ? 1 : lines;
}

static int
table_print_find_json(const struct table *table, const struct dns_name *name,
    uint16_t type, FILE *out)
{
	struct json_write w = { .out = out, .ascii = true };
	char text[NAME_TEXT_SIZE];
	struct entry entry;
	int error;

	table_find(table, name, &entry);
	json_write_open(&w, NULL, '{');
	json_write_text(&w, "name", name_to_text(name->octets, text));
	json_write_text(&w, "found", kind_text(entry.kind));
	if (entry.target_length != 0)
		json_write_text(&w, "target", target_text(name, &entry, text));
	if (entry.node != 0)
		describe(table, entry.node, entry.flags, type, &w);
	json_write_close(&w, '}');
	error = json_write_end(&w);
	if (error != 0)
		return error;
	return has_wanted(table, entry.node, type) ? 1 : 0;
}

#define OUTSIDE_TEXT	(NAME_TEXT_SIZE + 80)

/* What the command line asked for. */
struct request {
	const struct config *config;
	const char *image;		/* -i */
	bool running;			/* -r; neither: the config's tables */
	const char *output;		/* -o */
	bool json;
	char **words;			/* the arguments after the options */
	int word_count;
	char program[32];		/* "nfdns table list", for messages */
};

struct action {
	const char *name;
	const struct command_option *options;
	int min_words, max_words;
	int (*run)(const struct request *);
	const char *help;
};

static int table_compile(const struct request *);
static int table_list(const struct request *);
static int table_get(const struct request *);

const struct command_option table_compile_options[] = {
	OPTION_TEXT("output", 'o', struct request, output),
	{ .name = NULL },
};

const struct command_option table_side_options[] = {
	OPTION_TEXT("image", 'i', struct request, image),
	OPTION_FLAG("running", 'r', struct request, running),
	OPTION_FLAG("json", 'j', struct request, json),
	{ .name = NULL },
};

static const struct action actions[] = {
	{ "compile", table_compile_options, 0, 0, table_compile,
	  "nfdns table compile -o FILE\n"
	  "  Compiles the configuration's tables into one image.\n"
	  "  -o, --output FILE  write the image to FILE, replaced atomically\n" },
	{ "list", table_side_options, 0, 0, table_list,
	  "nfdns table list [-i IMAGE | --running] [--json]\n"
	  "  Prints every record of the table, sorted by name.\n"
	  "  -i, --image IMAGE  read this image, not the configured tables\n"
	  "  -r, --running      read the running daemon's table\n"
	  "  -j, --json         one JSON object for each name\n" },
	{ "get", table_side_options, 1, 2, table_get,
	  "nfdns table get [-i IMAGE | --running] [--json] NAME [TYPE]\n"
	  "  Prints what the table holds for NAME, how it was found and which\n"
	  "  source defines it.  Exit code 1: the table has no such name or type.\n"
	  "  To see the answer that a client gets, use dig NAME TYPE.\n"
	  "  -i, --image IMAGE  read this image, not the configured tables\n"
	  "  -r, --running      read the running daemon's table\n"
	  "  -j, --json         as one JSON object\n" },
};

#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

/*
 * Compiles the config's tables in the compiler process, as the daemon does, and
 * prints what is wrong with them.  An fd with the image, or a negative errno.
 */
static int
compile_tables(const struct config *config)
{
	struct diag diag = DIAG_INIT;
	int image;

	progress_start("compiling the tables");
	image = compiler_run(config, &diag);
	progress_stop();
	diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	return image;
}

/*
 * Returns an fd with the image that the command line names, or that of the
 * config's tables, or -1 and *exit_code after a message.
 */
static int
open_image(const struct request *r, int *exit_code)
{
	int fd;

	*exit_code = EXIT_INVALID;
	if (r->running)
		return daemon_open("table", r->config->run_dir, exit_code);
	if (r->image == NULL)
		return compile_tables(r->config);
	fd = open(r->image, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		*exit_code = EXIT_ERROR;
		cli_error("%s: cannot be opened: %s", r->image,
		    strerror(errno));
	}
	return fd;
}

/* Opens the table.  NULL and *exit_code after a message. */
static struct table *
open_table(const struct request *r, int *exit_code)
{
	int fd = open_image(r, exit_code);
	struct table *table = NULL;
	const char *why = NULL;

	if (fd < 0)
		return NULL;
	*exit_code = EXIT_INVALID;
	if (table_open(&table, fd, &why) != 0)
		cli_error("%s: %s", r->running ? "the table of nfdnsd" :
		    r->image != NULL ? r->image : "the compiled tables", why);
	(void)close(fd);
	return table;
}

/* Flushes the output.  exit_code, or EXIT_ERROR after a message. */
static int
finish_output(int exit_code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return exit_code;
	cli_error("cannot write the output: %s",
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
		cli_error("cannot print the table: %s",
		    strerror(-error));
		return EXIT_ERROR;
	}
	return finish_output(EXIT_OK);
}

/* What a client gets for a name that is in no table and no zone. */
static const char *
outside(const struct config *config, const struct dns_name *name,
    char text[static OUTSIDE_TEXT])
{
	const int index = forward_settings_domain(&config->forward, name);
	const struct forward_domain *longest;
	char domain[NAME_TEXT_SIZE];

	if (index < 0)
		return "gets what its nameserver answers";
	longest = &config->forward.domain[index];
	(void)snprintf(text, OUTSIDE_TEXT, "gets what the upstreams of "
	    "\"%s\" answer (forward.domains, line %u)",
	    name_to_text(longest->name, domain), longest->line);
	return text;
}

/* A daemon that runs may have loaded something else. */
static void
tell_changed(const char *run_dir)
{
	struct daemon_answer answer;
	struct status_page page;

	if (!daemon_is_there(run_dir) || daemon_page(&answer, &page, run_dir) != 0)
		return;
	if (answer.out[0] != '\0')
		printf("; %.*s has changed since nfdnsd loaded it: nfdns reload\n",
		    (int)strcspn(answer.out, "\n"), answer.out);
	status_close(&page);
	daemon_answer_free(&answer);
}

static int
table_get(const struct request *r)
{
	const char *text = r->words[0];
	uint16_t type = TYPE_ANY;
	struct dns_name name;
	struct table *table;
	char text_outside[OUTSIDE_TEXT], owner[NAME_TEXT_SIZE];
	int exit_code, found;

	if (idn_name_from_text(&name, text, strlen(text)) != 0) {
		cli_error("\"%s\" is not a valid domain name", text);
		return EXIT_USAGE;
	}
	if (r->word_count > 1 && rr_type_from_text(&type, r->words[1]) != 0) {
		cli_error("\"%s\" is not a valid type: give one such as A, AAAA or "
		    "TYPE65", r->words[1]);
		return EXIT_USAGE;
	}
	name_lower(&name);
	table = open_table(r, &exit_code);
	if (table == NULL)
		return exit_code;
	found = r->json ? table_print_find_json(table, &name, type, stdout) :
	    table_print_find(table, &name, type,
	    outside(r->config, &name, text_outside), stdout);
	if (found >= 0 && !r->json && r->config->policy.rule_count > 0)
		printf("; a rule of the policy may say otherwise: nfdns explain "
		    "%s\n", name_to_text(name.octets, owner));
	if (!r->json && !r->running && r->image == NULL)
		tell_changed(r->config->run_dir);
	table_close(table);
	if (found < 0) {
		cli_error("cannot print the name: %s",
		    strerror(-found));
		return EXIT_ERROR;
	}
	return finish_output(found > 0 ? EXIT_OK : EXIT_ERROR);
}

/* Copies the image to fd, which becomes r->output. */
static int
write_output(const struct request *r, int fd, int image)
{
	int error = fds_copy(fd, image);
	struct table *table;
	const char *why;

	if (error == 0 && (fchmod(fd, 0644) != 0 || fsync(fd) != 0))
		error = -errno;
	if (error != 0) {
		cli_error("%s: cannot be written: %s", r->output,
		    strerror(-error));
		return EXIT_ERROR;
	}
	if (table_open(&table, fd, &why) != 0) {
		cli_error("%s: %s", r->output, why);
		return EXIT_ERROR;
	}
	printf("%zu name%s, %zu octets\n", table_names(table),
	    table_names(table) == 1 ? "" : "s",
	    table_octets(table));
	table_close(table);
	return EXIT_OK;
}

static int
compile_output(const struct request *r, int fd)
{
	int image = compile_tables(r->config), code;

	if (image < 0)
		return EXIT_INVALID;
	code = write_output(r, fd, image);
	(void)close(image);
	return code;
}

static int
table_compile(const struct request *r)
{
	int exit_code = EXIT_ERROR;
	char *draft = NULL;
	int fd;

	if (r->output == NULL) {
		suggest_usage(stderr, r->program, "-o FILE is missing");
		return EXIT_USAGE;
	}
	/* In the output's directory, so that rename(2) works. */
	if (asprintf(&draft, "%s.XXXXXX", r->output) < 0) {
		cli_error("out of memory");
		return EXIT_ERROR;
	}
	fd = mkostemp(draft, O_CLOEXEC);
	if (fd < 0) {
		cli_error("%s: cannot be created: %s",
		    r->output, strerror(errno));
		free(draft);
		return EXIT_ERROR;
	}
	exit_code = compile_output(r, fd);
	if (exit_code == EXIT_OK && rename(draft, r->output) != 0) {
		cli_error("%s: cannot be replaced: %s",
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
	fputs("Exit codes: 0 success, 1 error or not found, 2 usage, 3 nfdnsd is"
	    " not running,\n4 invalid tables or image.\n", out);
}

/* Checks what was given.  An exit code, or -1 to go on. */
static int
check_request(const struct action *action, const struct request *r)
{
	const char *why = NULL;

	if (r->image != NULL && r->running)
		why = "--image and --running exclude each other";
	else if (r->word_count < action->min_words)
		why = "a name is missing";
	else if (r->word_count > action->max_words)
		why = "too many arguments";
	if (why == NULL)
		return -1;
	suggest_usage(stderr, r->program, "%s", why);
	return EXIT_USAGE;
}

/* Reads options and words of one action.  An exit code, or -1 to go on. */
static int
read_options(const struct action *action, struct request *r, int argc,
    char **argv)
{
	int first;

	(void)snprintf(r->program, sizeof(r->program), "nfdns table %s",
	    action->name);
	if (command_options_ask_help(argc, argv)) {
		fputs(action->help, stdout);
		return EXIT_OK;
	}
	first = command_options_read(action->options, r->program, r, argc,
	    argv);
	if (first < 0)
		return EXIT_USAGE;
	r->words = argv + first;
	r->word_count = argc - first;
	return check_request(action, r);
}

int
cmd_table(const struct config *config, int argc, char **argv)
{
	struct request request = { .config = config };
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
		suggest_usage(stderr, "nfdns table", "unknown command \"%s\"",
		    name);
	else
		print_help(stderr);
	return EXIT_USAGE;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/cli/explain/print.h"
#include "nfq/process/compiler.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"
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
	fprintf(out, "; %s: found as %s", owner, words_kind(entry.kind));
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
	json_write_text(&w, "found", words_kind(entry.kind));
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

const char table_usage[] =
    "usage: nfdns [-c FILE] table list [--running] [--json]\n"
    "       nfdns [-c FILE] table get [--running] [--json] NAME [TYPE]\n"
    "\n"
    "list prints every record of the configured tables, sorted by name; get, what\n"
    "they hold for NAME, how it was found and which source defines it.  Exit code\n"
    "1: there is no such name or type.  To see the answer that a client gets, use\n"
    "dig NAME TYPE.\n"
    "\n"
    "  -r, --running  of the running daemon's table, as root\n"
    "  -j, --json     a JSON object for each name\n"
    "\n"
    "  nfdns table list | grep shop\n"
    "  nfdns table get reviews.shop.svc.cluster.local\n";

struct words {
	bool running, json;
};

const struct command_option table_options[] = {
	OPTION_FLAG("running", 'r', struct words, running),
	OPTION_FLAG("json", 'j', struct words, json),
	{ .name = NULL },
};

/*
 * The running daemon's table, or the configured ones, compiled as the daemon does it;
 * the configuration goes to *config then.  NULL and *exit_code after a message.
 */
static struct table *
open_table(const struct config *peeked, bool running, struct config **config,
    int *exit_code)
{
	struct diag diag = DIAG_INIT;
	struct table *table = NULL;
	const char *why = NULL;
	int fd = -1;

	*config = NULL;
	*exit_code = EXIT_INVALID;
	if (running) {
		fd = daemon_open("table", peeked->run_dir, exit_code);
	} else if (config_load(config, peeked->path, &diag) == 0) {
		cli_waits_for("compiling the tables");
		fd = compiler_run(*config, &diag);
		cli_waits_for(NULL);
	}
	diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	if (fd < 0)
		return NULL;
	*exit_code = EXIT_INVALID;
	if (table_open(&table, fd, &why) != 0)
		cli_error("%s: %s", running ? "the table of nfdnsd" :
		    "the compiled tables", why);
	(void)close(fd);
	return table;
}

/* Flushes the output.  exit_code, or EXIT_ERROR after a message. */
static int
finish_output(int exit_code, int error)
{
	if (error == 0 && (fflush(stdout) != 0 || ferror(stdout)))
		error = -errno;
	if (error == 0)
		return exit_code;
	cli_error("cannot write the output: %s", strerror(-error));
	return EXIT_ERROR;
}

/* Without a word behind it. */
int
cmd_table(const struct config *config, int argc, char **argv)
{
	(void)config;
	(void)argc;
	(void)argv;
	suggest_usage(stderr, "nfdns table", "say list or get");
	return EXIT_USAGE;
}

int
cmd_table_list(const struct config *peeked, int argc, char **argv)
{
	struct words words = { .json = false };
	struct config *config;
	struct table *table;
	int exit_code, error;

	if (!command_options_only(table_options, "nfdns table", &words,
	    argc - 1, argv + 1))
		return EXIT_USAGE;
	table = open_table(peeked, words.running, &config, &exit_code);
	if (table != NULL) {
		error = words.json ? table_print_json(table, stdout) :
		    table_print(table, stdout);
		exit_code = finish_output(EXIT_OK, error);
	}
	table_close(table);
	config_free(config);
	return exit_code;
}

/* What a client gets for a name that is in no table and no zone. */
static const char *
outside(const struct config *config, const struct dns_name *name,
    char text[static OUTSIDE_TEXT])
{
	const int index = config != NULL ?
	    forward_settings_domain(&config->forward, name) : -1;
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

/* 1: there are records; 0; or a negative errno. */
static int
get(const struct table *table, const struct config *config,
    const struct dns_name *name, uint16_t type)
{
	char text[OUTSIDE_TEXT], owner[NAME_TEXT_SIZE];
	const int found = table_print_find(table, name, type,
	    outside(config, name, text), stdout);

	if (config == NULL)
		return found;
	if (config->policy.rule_count > 0)
		printf("; a rule of the policy may say otherwise: nfdns explain "
		    "%s\n", name_to_text(name->octets, owner));
	tell_changed(config->run_dir);
	return found;
}

/* NAME [TYPE].  False after a message. */
static bool
read_name(struct dns_name *name, uint16_t *type, int count, char **word)
{
	*type = TYPE_ANY;
	if (count < 1 || count > 2)
		suggest_usage(stderr, "nfdns table", count < 1 ?
		    "a name is missing" : "too many arguments");
	else if (idn_name_from_text(name, word[0], strlen(word[0])) != 0)
		suggest_usage(stderr, "nfdns table", "\"%s\" is not a valid "
		    "domain name", word[0]);
	else if (count > 1 && rr_type_from_text(type, word[1]) != 0)
		suggest_usage(stderr, "nfdns table", "\"%s\" is not a valid "
		    "type: give one such as A, AAAA or TYPE65", word[1]);
	else
		return true;
	return false;
}

int
cmd_table_get(const struct config *peeked, int argc, char **argv)
{
	struct words words = { .json = false };
	const int first = command_options_read(table_options, "nfdns table",
	    &words, argc - 1, argv + 1);
	struct config *config;
	struct table *table;
	struct dns_name name;
	uint16_t type;
	int exit_code, found;

	if (first < 0 || !read_name(&name, &type, argc - 1 - first,
	    argv + 1 + first))
		return EXIT_USAGE;
	name_lower(&name);
	table = open_table(peeked, words.running, &config, &exit_code);
	if (table != NULL) {
		found = words.json ? table_print_find_json(table, &name, type,
		    stdout) : get(table, config, &name, type);
		exit_code = finish_output(found > 0 ? EXIT_OK : EXIT_ERROR,
		    found < 0 ? found : 0);
	}
	table_close(table);
	config_free(config);
	return exit_code;
}

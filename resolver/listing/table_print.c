/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/listing/table_print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"
#include "resolver/listing/table_list.h"
#include "resolver/text/json_write.h"
#include "resolver/text/printable.h"

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

int
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

int
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

int
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

int
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

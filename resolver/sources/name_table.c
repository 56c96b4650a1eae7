/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/sources/name_table.h"

#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>

/* Fields of NameTable, of an entry of its map, and of NameInfo. */
enum { TABLE_ENTRY = 1 };
enum { ENTRY_HOST = 1, ENTRY_INFO = 2 };
enum {
	INFO_IPS = 1,
	INFO_REGISTRY = 2,
	INFO_SHORTNAME = 3,
	INFO_NAMESPACE = 4,
	INFO_ALT_HOSTS = 5,
};

/* So many entries are read before their places in the index are looked at. */
#define AHEAD	16

static const char fault_cut[] = "is cut off or malformed";
static const char fault_type[] = "has a field of another type";
static const char fault_utf8[] = "has a text that is not UTF-8";

/* Whether the field is a text; a fault of the entry if not. */
static bool
is_text(struct name_table_entry *entry, const struct protobuf_field *field)
{
	if (field->type != PROTOBUF_OCTETS)
		entry->fault = fault_type;
	else if (!span_is_utf8(field->octets))
		entry->fault = fault_utf8;
	else
		return true;
	return false;
}

static void
take_text(struct name_table_entry *entry, const struct protobuf_field *field,
    struct span *text)
{
	if (is_text(entry, field))
		*text = field->octets;
}

static void
read_info(struct name_table_entry *entry, struct span octets)
{
	struct protobuf info = protobuf_inside(octets);
	struct protobuf_field field;

	while (protobuf_next(&info, &field)) {
		switch (field.number) {
		case INFO_REGISTRY:
			take_text(entry, &field, &entry->registry);
			break;
		case INFO_SHORTNAME:
			take_text(entry, &field, &entry->shortname);
			break;
		case INFO_NAMESPACE:
			take_text(entry, &field, &entry->namespace);
			break;
		case INFO_IPS:
			(void)is_text(entry, &field);
			entry->ip_count++;
			break;
		case INFO_ALT_HOSTS:
			(void)is_text(entry, &field);
			entry->alt_host_count++;
			break;
		default:
			break;
		}
	}
	if (info.failed)
		entry->fault = fault_cut;
}

/* Several values of one entry are merged (protocol buffers: last one wins). */
static void
read_entry(struct name_table_entry *entry, struct span octets)
{
	static const struct span none = { "", 0 };
	struct protobuf message = protobuf_inside(octets);
	struct protobuf_field field;

	*entry = (struct name_table_entry){ .octets = octets, .host = none,
		.registry = none, .shortname = none, .namespace = none };
	while (protobuf_next(&message, &field)) {
		if (field.number == ENTRY_HOST)
			take_text(entry, &field, &entry->host);
		else if (field.number == ENTRY_INFO &&
		    field.type == PROTOBUF_OCTETS)
			read_info(entry, field.octets);
		else if (field.number == ENTRY_INFO)
			entry->fault = fault_type;
	}
	if (message.failed)
		entry->fault = fault_cut;
}

struct name_table_walk
name_table_walk_over(const void *octets, size_t length)
{
	return (struct name_table_walk){ octets,
		protobuf_over(octets, length) };
}

bool
name_table_next(struct name_table_walk *walk, struct name_table_entry *entry)
{
	struct protobuf_field field;

	const uint8_t *at;

	do {
		at = walk->message.at;
		if (!protobuf_next(&walk->message, &field))
			return false;
	} while (field.number != TABLE_ENTRY);
	if (field.type == PROTOBUF_OCTETS) {
		read_entry(entry, field.octets);
	} else {
		read_entry(entry, (struct span){ "", 0 });
		entry->fault = fault_type;
	}
	entry->field = at;
	return true;
}

static struct name_table_texts
texts_of(struct span entry, uint32_t number)
{
	return (struct name_table_texts){ .entry = protobuf_inside(entry),
		.info = protobuf_over(entry.text, 0), .number = number };
}

struct name_table_texts
name_table_ips(const struct name_table_entry *entry)
{
	return texts_of(entry->octets, INFO_IPS);
}

struct name_table_texts
name_table_alt_hosts(const struct name_table_entry *entry)
{
	return texts_of(entry->octets, INFO_ALT_HOSTS);
}

bool
name_table_text(struct name_table_texts *texts, struct span *text)
{
	struct protobuf_field field;

	for (;;) {
		while (protobuf_next(&texts->info, &field)) {
			if (field.number == texts->number &&
			    field.type == PROTOBUF_OCTETS) {
				*text = field.octets;
				return true;
			}
		}
		do {
			if (!protobuf_next(&texts->entry, &field))
				return false;
		} while (field.number != ENTRY_INFO ||
		    field.type != PROTOBUF_OCTETS);
		texts->info = protobuf_inside(field.octets);
	}
}

static uint32_t
tag_of(struct span host)
{
	return (uint32_t)(XXH3_64bits(host.text, host.length) >> 32);
}

/* The entry that begins with the field at that offset. */
static void
entry_at(const struct name_table *table, size_t offset,
    struct name_table_entry *entry)
{
	struct name_table_walk walk = name_table_walk_over(
	    table->octets + offset, table->length - offset);

	if (!name_table_next(&walk, entry))
		read_entry(entry, (struct span){ "", 0 });
}

/*
 * The offset of the host's entry, plus 1, or 0; *step is of its place in the
 * index.
 */
static uint32_t
find(const struct name_table *table, struct span host, uint32_t tag,
    size_t *step, struct name_table_entry *entry)
{
	uint32_t handle;

	*step = 0;
	while ((handle = build_index_next(&table->index, tag, step)) != 0) {
		entry_at(table, handle - 1, entry);
		if (span_equal(entry->host, host))
			break;
	}
	return handle;
}

static bool
is_usable(const struct name_table_entry *entry)
{
	return entry->fault == NULL && entry->host.length > 0;
}

/* The walk's next entry that can be used, or false. */
static bool
next_usable(struct name_table_walk *walk, struct name_table_entry *entry)
{
	while (name_table_next(walk, entry)) {
		if (is_usable(entry))
			return true;
	}
	return false;
}

static int
index_name(struct name_table *table, const struct name_table_entry *entry)
{
	const size_t offset = (size_t)(entry->field - table->octets);
	const uint32_t tag = tag_of(entry->host);
	struct name_table_entry earlier;
	size_t step;
	int error;

	if (offset >= UINT32_MAX)
		return -E2BIG;
	error = build_index_reserve(&table->index);
	if (error != 0)
		return error;
	if (find(table, entry->host, tag, &step, &earlier) != 0) {
		build_index_replace(&table->index, tag, step,
		    (uint32_t)offset + 1);
		table->replaced++;
		table->names--;
	} else {
		build_index_place(&table->index, tag, (uint32_t)offset + 1);
	}
	return 0;
}

/* Makes the index that name_table_find() needs.  0, -ENOMEM or -E2BIG. */
static int
name_table_index(struct name_table *table)
{
	struct name_table_walk walk = name_table_walk_over(table->octets,
	    table->length);
	struct name_table_entry some[AHEAD];
	size_t count;
	int error = 0;

	if (table->index.slots != NULL)
		return 0;
	build_index_expect(&table->index, table->names);
	do {
		for (count = 0; count < AHEAD && next_usable(&walk,
		    &some[count]); count++)
			build_index_prefetch(&table->index,
			    tag_of(some[count].host));
		for (size_t i = 0; i < count && error == 0; i++)
			error = index_name(table, &some[i]);
	} while (count == AHEAD && error == 0);
	if (error != 0)
		name_table_close(table);
	return error;
}

static int
compare_hosts(struct span a, struct span b)
{
	const int order = memcmp(a.text, b.text,
	    a.length < b.length ? a.length : b.length);

	return order != 0 ? order : (a.length > b.length) -
	    (a.length < b.length);
}

/* Counts entries.  -EBADMSG if the message cannot be walked. */
static int
count_names(struct name_table *table)
{
	struct name_table_walk walk = name_table_walk_over(table->octets,
	    table->length);
	struct span last = { "", 0 };
	struct name_table_entry entry;

	table->sorted = true;
	while (name_table_next(&walk, &entry)) {
		if (!is_usable(&entry)) {
			table->faulty++;
			continue;
		}
		table->names++;
		table->sorted = table->sorted &&
		    compare_hosts(last, entry.host) < 0;
		last = entry.host;
	}
	table->failed_at = name_table_offset(&walk);
	return name_table_failed(&walk) ? -EBADMSG : 0;
}

int
name_table_open(struct name_table *table, const void *octets, size_t length)
{
	int error;

	*table = (struct name_table){ .octets = octets, .length = length };
	error = count_names(table);
	if (error == 0 && !table->sorted)
		error = name_table_index(table);
	if (error != 0)
		name_table_close(table);
	return error;
}

void
name_table_close(struct name_table *table)
{
	build_index_free(&table->index);
}

/* The entry of that host.  False if there is none. */
static bool
name_table_find(const struct name_table *table, struct span host,
    struct name_table_entry *entry)
{
	size_t step;

	return find(table, host, tag_of(host), &step, entry) != 0;
}

bool
name_table_counts(const struct name_table *table,
    const struct name_table_entry *entry)
{
	struct name_table_entry last;

	if (!is_usable(entry) || table->replaced == 0)
		return is_usable(entry);
	return name_table_find(table, entry->host, &last) &&
	    last.field == entry->field;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Istio's NameTable as protocol buffers write it, read where it stands.
 *
 * A message that cannot be walked is an error: a truncated table must not
 * replace a good one.  Neither must one without any usable entry, since
 * octets of another kind can look like that.
 */
#include <errno.h>
#include <stdlib.h>

#include "resolver/sources/name_table.h"
#include "resolver/sources/nds.h"
#include "resolver/sources/source_format.h"

/* So many entries are prepared before they are added. */
#define AHEAD	16

struct prepared {
	struct name_table_entry entry;
	struct nds_names names;
};

/* A table while it is read. */
struct reading {
	struct nds nds;
	struct name_table table;
	struct span *texts;		/* of one entry */
	size_t room;
};

static int
make_room(struct reading *r, size_t count)
{
	struct span *texts;

	if (count <= r->room)
		return 0;
	texts = reallocarray(r->texts, count, 2 * sizeof(*texts));
	if (texts == NULL)
		return -ENOMEM;
	r->texts = texts;
	r->room = 2 * count;
	return 0;
}

/* Puts these texts behind the *used ones; there is room for them. */
static void
collect(struct reading *r, struct name_table_texts texts, size_t *used)
{
	struct span text;

	while (*used < r->room && name_table_text(&texts, &text))
		r->texts[(*used)++] = text;
}

static struct nds_entry
entry_of(const struct name_table_entry *from)
{
	return (struct nds_entry){
		.host = from->host,
		.registry = from->registry,
		.shortname = from->shortname,
		.namespace = from->namespace,
	};
}

static int
add(struct reading *r, const struct name_table_entry *from,
    const struct nds_names *names)
{
	struct nds_entry entry = entry_of(from);
	size_t used = 0;
	int error = make_room(r, from->ip_count + from->alt_host_count);

	if (error != 0)
		return error;
	if (from->ip_count > 0)
		collect(r, name_table_ips(from), &used);
	entry.ips = (struct nds_texts){ r->texts, used };
	if (from->alt_host_count > 0) {
		collect(r, name_table_alt_hosts(from), &used);
		entry.alternates = (struct nds_texts){
			r->texts + from->ip_count, from->alt_host_count };
	}
	nds_add_prepared(&r->nds, &entry, names);
	return r->nds.error;
}

static void
warn_of_fault(const struct reading *r, const struct name_table_entry *entry)
{
	if (entry->fault == NULL)
		diag_add(r->nds.diag, DIAG_WARNING, r->nds.text->path, 0,
		    "an entry has an empty host: ignored");
	else
		diag_add(r->nds.diag, DIAG_WARNING, r->nds.text->path, 0,
		    "the entry \"%.*s\" at octet %zu %s: ignored",
		    SPAN_SHOWN(entry->host, NDS_SHOWN),
		    (size_t)(entry->field - r->table.octets), entry->fault);
}

static bool
is_faulty(const struct name_table_entry *entry)
{
	return entry->fault != NULL || entry->host.length == 0;
}

/* The next entries that count or are faulty, with names.  Returns how many. */
static size_t
prepare(const struct reading *r, struct name_table_walk *walk,
    struct prepared some[static AHEAD])
{
	size_t count = 0;

	while (count < AHEAD && name_table_next(walk, &some[count].entry)) {
		const struct name_table_entry *entry = &some[count].entry;
		const struct nds_entry names = entry_of(entry);

		if (is_faulty(entry))
			count++;
		else if (name_table_counts(&r->table, entry))
			nds_prepare(&r->nds, &names, &some[count++].names);
	}
	return count;
}

static int
add_prepared(struct reading *r, const struct prepared *prepared)
{
	if (!is_faulty(&prepared->entry))
		return add(r, &prepared->entry, &prepared->names);
	warn_of_fault(r, &prepared->entry);
	return 0;
}

/* What can be wrong with the message as a whole. */
static void
check_whole(const struct reading *r, int error)
{
	const struct source_text *text = r->nds.text;

	if (error == -EBADMSG)
		diag_add(r->nds.diag, DIAG_ERROR, text->path, 0, "is malformed"
		    " at octet %zu: it is not a name table in binary form, or cut"
		    " off (for JSON, set format = \"nds\")",
		    r->table.failed_at);
	else if (error == 0 && r->table.names == 0 && r->table.faulty > 0)
		diag_add(r->nds.diag, DIAG_ERROR, text->path, 0, "has no usable"
		    " entry: it is not a name table in binary form (for JSON, set"
		    " format = \"nds\")");
	else if (text->length == 0)
		diag_add(r->nds.diag, DIAG_WARNING, text->path, 0, "is empty: a"
		    " table without names");
	if (error == 0 && r->table.replaced > 0)
		diag_add(r->nds.diag, DIAG_WARNING, text->path, 0, "has %zu"
		    " entries that a later one of the same host replaces",
		    r->table.replaced);
}

int
source_nds_proto_read(const struct source_text *text, struct builder *b,
    struct diag *diag)
{
	struct reading r = { .room = 0 };
	int error;

	if (nds_init(&r.nds, text, b, diag) != 0)
		return 0;
	error = name_table_open(&r.table, text->data, text->length);
	check_whole(&r, error);
	if (error == -EBADMSG)
		return 0;
	if (error == 0) {
		struct name_table_walk walk;
		struct prepared some[AHEAD];
		size_t count;

		builder_expect(b, r.table.names);
		walk = name_table_walk_over(r.table.octets, r.table.length);
		error = 0;
		do {
			count = prepare(&r, &walk, some);
			for (size_t i = 0; i < count && error == 0; i++)
				error = add_prepared(&r, &some[i]);
		} while (count == AHEAD && error == 0);
		name_table_close(&r.table);
	}
	free(r.texts);
	return error;
}

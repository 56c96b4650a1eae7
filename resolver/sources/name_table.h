/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Istio's NameTable (type istio.networking.nds.v1.NameTable) in its binary
 * form, walked where it stands:
 *
 *   message NameTable { map<string, NameInfo> table = 1; }
 *   message NameInfo {
 *     repeated string ips = 1;
 *     string registry = 2, shortname = 3, namespace = 4;
 *     repeated string alt_hosts = 5;
 *   }
 *
 * A map is a repeated message of a key (1) and a value (2).  Whoever sent the
 * message is not trusted.  An entry that is malformed inside is yielded with
 * "fault" set, for the caller to skip and count; the message as a whole is
 * refused only if entries cannot be told from each other any more.  Unknown
 * fields are ignored: later versions may add some.
 */
#ifndef NFDNS_RESOLVER_SOURCES_NAME_TABLE_H
#define NFDNS_RESOLVER_SOURCES_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/image/builder_state.h"
#include "resolver/sources/protobuf.h"
#include "resolver/text/span.h"

/* A message while it is walked; borrows its octets. */
struct name_table_walk {
	const uint8_t *start;
	struct protobuf message;
};

/* Texts of an entry, which name_table_text() yields one by one. */
struct name_table_texts {
	struct protobuf entry, info;
	uint32_t number;
};

/* Borrows from the message.  Absent texts are empty. */
struct name_table_entry {
	const char *fault;	/* NULL, or why it cannot be used: static text */
	const uint8_t *field;	/* where it begins in the message */
	struct span octets;	/* of the whole entry, behind tag and length */
	struct span host;
	struct span registry, shortname, namespace;
	size_t ip_count, alt_host_count;
};

struct name_table_walk name_table_walk_over(const void *octets, size_t length);

/* The next entry.  False at the end and on failure. */
bool name_table_next(struct name_table_walk *walk,
    struct name_table_entry *entry);

/* Whether the walk ended before the end of the message: no name table. */
static inline bool
name_table_failed(const struct name_table_walk *walk)
{
	return walk->message.failed;
}

/* How far the walk has come, in octets. */
static inline size_t
name_table_offset(const struct name_table_walk *walk)
{
	return (size_t)(walk->message.at - walk->start);
}

/* Addresses as text, and further names; borrowed from the message. */
struct name_table_texts name_table_ips(const struct name_table_entry *entry);
struct name_table_texts name_table_alt_hosts(
    const struct name_table_entry *entry);

/* The next of these texts.  False behind the last one. */
bool name_table_text(struct name_table_texts *texts, struct span *text);

/*
 * Which entries count: of several entries with the same host, octet for octet,
 * the last one, as in every map of protocol buffers.  Entries with a fault
 * never count, nor do those without a host.  The host of an entry that counts
 * is called a name here.
 *
 * A table whose hosts ascend, as the control plane writes them, needs no
 * memory.  Otherwise there is an index, of about 24 octets a name.
 */
struct name_table {			/* borrows the octets, owns the index */
	const uint8_t *octets;
	size_t length;
	bool sorted;			/* hosts ascend: none is there twice */
	struct build_index index;	/* of entries: their offsets, plus 1 */
	size_t names;
	size_t faulty;			/* entries with a fault or without a host */
	size_t replaced;		/* entries before a later one of their host */
	size_t failed_at;		/* after -EBADMSG: the octet */
};

/*
 * Walks the whole message and counts its names.  Returns 0; or -EBADMSG if it
 * cannot be walked, -ENOMEM, -E2BIG for an index from 4 GiB on, and then there
 * is nothing to close.
 */
int name_table_open(struct name_table *table, const void *octets, size_t length)
    __attribute__((warn_unused_result));
void name_table_close(struct name_table *table);

/* Whether this entry of the table's message counts. */
bool name_table_counts(const struct name_table *table,
    const struct name_table_entry *entry);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mesh table as the packet path sees it: a read-only image, mapped once
 * and shared by all threads.  Everything is bounds-checked when it is opened,
 * so lookups trust offsets.  The format stands in image.h, which only this
 * file and the builder include.
 */
#ifndef NFDNS_RESOLVER_IMAGE_TABLE_H
#define NFDNS_RESOLVER_IMAGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/image/mesh.h"
#include "resolver/dns/name.h"

struct table;			/* owns the mapping */

/*
 * Maps and checks the image in fd; the fd may be closed afterwards.
 * Returns 0 and *table, or a negative errno with *why set to a static text
 * ("checksum differs", "version 3, this program reads 1", ...).
 */
int table_open(struct table **table, int fd, const char **why)
    __attribute__((warn_unused_result));

/*
 * The same for what builder_write() has just written and
 * cname_check_drop_faulty() looks through: names may have several CNAMEs, and
 * are not to be answered with.
 */
int table_open_draft(struct table **table, int fd, const char **why)
    __attribute__((warn_unused_result));
void table_close(struct table *table);

/* What an image says of itself. */
struct table_label {
	uint64_t checksum;	/* of all that is in it: equal images have equal ones */
	size_t names;
};

/*
 * Reads the image's header and no more: for who wants to know in a moment, and
 * can live with a lie.  0, or -EINVAL if it is none of ours.
 */
int table_peek(int fd, struct table_label *label)
    __attribute__((warn_unused_result));

/* How the names of this image are answered. */
struct table_settings {
	uint32_t negative_ttl;
	uint16_t udp_size;
	bool suppress_https;
	bool tcp;			/* a truncated answer can be had over TCP */
	bool loaded;			/* false: compile_unloaded() made it */
	enum mesh_unloaded unloaded;
};

const struct table_settings *table_settings(const struct table *table);
size_t table_names(const struct table *table);
size_t table_octets(const struct table *table);

/*
 * Whether the image is larger than a cache that it would have to itself; then
 * lookups of several names wait less if their parts are fetched first: the
 * slots of all, then, since those must have come by then, the nodes of all.
 */
bool table_is_large(const struct table *table);

enum table_part {
	TABLE_SLOT,
	TABLE_NODE,
};

void table_fetch(const struct table *table, const struct dns_name *name,
    enum table_part part);

/* How a question's name was found. */
enum entry_kind {
	ENTRY_NONE,		/* not in the table */
	ENTRY_EXACT,
	ENTRY_WILDCARD,		/* owner of the answer is the name asked for */
	ENTRY_SEARCH,		/* NAME.SEARCH, where NAME or NAME.OTHER is in the
				   table, OTHER being further down the list */
	ENTRY_SEARCH_WILDCARD,	/* NAME.SEARCH, where a wildcard covers NAME */
	ENTRY_EMPTY,		/* empty non-terminal or apex of a zone */
};

/* A view into the table; valid as long as the table is open. */
struct entry {
	enum entry_kind kind;
	uint8_t flags;			/* NAME_* */
	uint32_t node;			/* for table_rrset(); 0 when there is none */
	/*
	 * ENTRY_SEARCH*: the target is the first target_length octets of the
	 * question's name, and behind them the root or this other element of
	 * the search list.
	 */
	uint8_t target_length;
	const struct dns_name *target_search;	/* NULL: the root */
	/* The zones entry that the name asked for lies in, the deepest one. */
	bool in_zone;
	enum zone_unknown unknown;
	uint8_t zone_labels;		/* labels of its name, a suffix of the name asked for */
};

/*
 * Finds a lower-cased name: exact, then the most specific wildcard, then the
 * search list, then empty non-terminals.  O(1) in the number of names.
 */
void table_find(const struct table *table, const struct dns_name *name,
    struct entry *entry);

/* Records of one type; borrows from the table. */
struct rrset {
	uint16_t type;
	uint32_t count;			/* at least 1 */
	uint16_t rdlength;		/* of each; 0: each is a u16 length, in network
					   order, and octets */
	uint32_t ttl;
	const uint8_t *rdata;		/* u16 lengths in network order, unaligned */
};

/* The node's records of that type.  False if it has none. */
bool table_rrset(const struct table *table, uint32_t node, uint16_t type,
    struct rrset *rrset);

/*
 * The SOA records of the closest name at or above that one that has any, and
 * how many labels it has.  False if there is none.
 */
bool table_soa(const struct table *table, const struct dns_name *name,
    struct rrset *soa, uint8_t *labels);

/* For listings: the nth RRset of a node; false behind the last. */
bool table_rrset_at(const struct table *table, uint32_t node, size_t index,
    struct rrset *rrset);

/*
 * File and line that a node came from: the files are the config's sources in
 * order, then further ones that these consist of.
 */
void table_origin(const struct table *table, uint32_t node,
    unsigned int *source, unsigned int *line);

/*
 * The path of the nth file that the image was compiled from, not
 * NUL-terminated; NULL behind the last.
 */
const char *table_source(const struct table *table, unsigned int source,
    size_t *length);

/*
 * Names that have records, in the order of the image, one a call: start with *cursor = 0; false
 * at the end.  name is lower case.
 */
bool table_next(const struct table *table, size_t *cursor,
    struct dns_name *name, uint32_t *node, uint8_t *flags);

#endif

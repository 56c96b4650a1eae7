/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mesh table as the packet path sees it: a read-only image, mapped once
 * and shared by all threads.  Opening checks all bounds, so lookups trust the
 * offsets.  The format is in image.h, for the files of this room only.
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
 * ("checksum differs: the image is damaged", ...).
 */
int table_open(struct table **table, int fd, const char **why)
    __attribute__((warn_unused_result));

/*
 * The same for an image that builder_write() has just written, for
 * cname_check_drop_faulty(): names in it may have several CNAMEs, so it must
 * not be used for answers.
 */
int table_open_draft(struct table **table, int fd, const char **why)
    __attribute__((warn_unused_result));
void table_close(struct table *table);

/* Identity of an image. */
struct table_label {
	uint64_t checksum;	/* of all contents: the same for equal images */
	size_t names;
	size_t policy_names;	/* of the files that the policy names */
};

/*
 * Reads only the image's header: fast; the image is not verified.  Returns 0,
 * or -EINVAL if the file is no image of this version.
 */
int table_peek(int fd, struct table_label *label)
    __attribute__((warn_unused_result));

/* False for the image of compile_unloaded(): no table has loaded yet. */
bool table_is_loaded(const struct table *table);

/*
 * The octets that builder_set_policy() gave the image, unchecked, aligned to 8;
 * *size is 0 if there are none.
 */
const uint8_t *table_policy(const struct table *table, size_t *size);
size_t table_names(const struct table *table);
size_t table_octets(const struct table *table);

/*
 * Whether the image is larger than a CPU's cache.  Then several names are
 * looked up faster after table_fetch() of the slots of all of them, followed by
 * table_fetch() of their nodes: finding a node needs its slot.
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
	ENTRY_WILDCARD,		/* the answer's owner is the question's name */
	ENTRY_SEARCH,		/* NAME.SEARCH, where the table has NAME, or
				   NAME.OTHER with a later OTHER of the list */
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
	 * question's name, followed by the root or by another element of the
	 * search list.
	 */
	uint8_t target_length;
	const struct dns_name *target_search;	/* NULL: the root */
	/* The deepest zones entry in which the question's name lies. */
	bool in_zone;
	enum zone_unknown unknown;
	uint8_t zone_labels;		/* of its name, a suffix of the question's */
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
	uint32_t ttl;			/* seconds */
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
 * The names whose records a node with records has under a name that the table
 * made: short names, alternate hosts.  The nth of them; of a wildcard, without
 * its "*".  False behind the last: most nodes have none.
 */
bool table_alias(const struct table *table, uint32_t node, unsigned int index,
    struct dns_name *name, bool *wildcard);

/* Whether there are any. */
bool table_is_alias(const struct table *table, uint32_t node);

/* How many labels the node's name has; a wildcard's without its "*". */
unsigned int table_labels(const struct table *table, uint32_t node);

/* So many there are at most. */
#define TABLE_ALIASES	4

/*
 * File and line of a node.  Files are numbered: first the sources in the order
 * of the configuration, then the files that these include.
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
 * The next name that has records, in the order of the image, in lower case.
 * Start with *cursor = 0.  False at the end.
 */
bool table_next(const struct table *table, size_t *cursor,
    struct dns_name *name, uint32_t *node, uint8_t *flags);

#endif

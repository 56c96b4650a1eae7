/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collects names and their records in memory and writes them as one flat
 * table image.  Used only by the compiler process; every source format adds
 * to a builder and knows nothing about the image.
 */
#ifndef NFDNS_RESOLVER_IMAGE_BUILDER_H
#define NFDNS_RESOLVER_IMAGE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/image/mesh.h"
#include "resolver/dns/name.h"

struct builder;			/* owns everything that was added */

/* Borrows mesh until builder_free().  NULL and errno on lack of memory. */
struct builder *builder_new(const struct mesh *mesh);
void builder_free(struct builder *b);

/* Marks the image as that of a table that was never loaded. */
void builder_set_unloaded(struct builder *b);

/*
 * Starts the next source, in config order.  A name that an earlier source has
 * is that source's for good; names added twice by one source are joined.
 */
void builder_source(struct builder *b, unsigned int source);

/*
 * A further file that the current source consists of, beside the one that the
 * config names.  Returns its number, for builder_file_set(), or -ENOMEM, or
 * -E2BIG above 65535 files.
 */
int builder_file_add(struct builder *b, const char *path)
    __attribute__((warn_unused_result));

/*
 * What is added from here on stands in that file; a source's own has the
 * source's number and is set by builder_source().
 */
void builder_file_set(struct builder *b, unsigned int file);
unsigned int builder_file(const struct builder *b);

/* What became of an addition. */
enum builder_added {
	BUILDER_ADDED,		/* new, or joined to the same source's name */
	BUILDER_DUPLICATE,	/* that very record stands there already */
	BUILDER_SHADOWED,	/* an earlier source has the name: left out */
};

/*
 * Adds one record.  owner is lower-cased wire form; a first label "*" makes it
 * a wildcard.  rdata is in wire format, uncompressed.  line is where it stands
 * in its source (0: unknown).  Returns enum builder_added, -EINVAL if rdata is
 * none of that type, -ENOMEM, or -E2BIG when the image would pass 4 GiB.
 */
int builder_add(struct builder *b, const struct dns_name *owner, uint8_t flags,
    uint16_t type, uint32_t ttl, const void *rdata, uint16_t rdlength,
    unsigned int line) __attribute__((warn_unused_result));

/*
 * Adds an address of 4 or 16 octets that was made up for the name; same
 * returns.  With AUTO_ALLOCATE_BOTH builder_write() leaves out those of a
 * family that no other address of the table is of, IPv6 if neither is; loopback
 * and unspecified addresses do not count.  A name keeps what is all it has.
 */
int builder_add_made_up(struct builder *b, const struct dns_name *owner,
    uint32_t ttl, const uint8_t *octets, uint8_t length, unsigned int line)
    __attribute__((warn_unused_result));

/*
 * Makes alias share all records of owner (added before), at the cost of the
 * name alone.  Same returns as builder_add, -ENOENT if owner is not there.
 */
int builder_alias(struct builder *b, const struct dns_name *owner,
    const struct dns_name *alias, uint8_t flags, unsigned int line)
    __attribute__((warn_unused_result));

/*
 * Makes name and those above it exist, without records, where the zone they
 * lie in has no other names than the table's.  0, -ENOMEM or -E2BIG.
 */
int builder_add_empty(struct builder *b, const struct dns_name *name)
    __attribute__((warn_unused_result));

/* Whether that very name has records and the mesh owns it. */
bool builder_owned(const struct builder *b, const struct dns_name *name);

/*
 * Takes the RRset of that type from owner and all that share its records.  A
 * name without any left is no name of the table.
 */
void builder_drop(struct builder *b, const struct dns_name *owner,
    uint16_t type);

/* Whether any name ever got records of that type. */
bool builder_has(const struct builder *b, uint16_t type);

/*
 * How many names of the current source were left out because an earlier one
 * has them, each counted once.
 */
size_t builder_shadowed(const struct builder *b);

/* Of so many it is kept which they are and who has them. */
#define BUILDER_SHADOWS_KEPT 20

/* A view into the builder. */
struct builder_shadow {
	struct dns_name name;
	const char *path;		/* of the file that is not heard */
	unsigned int line;
	const char *winner_path;
	unsigned int winner_line;
};

/* The nth of those that are kept. */
void builder_shadow(const struct builder *b, size_t n,
    struct builder_shadow *shadow);

/* Names that have records. */
size_t builder_names(const struct builder *b);

/*
 * Writes the image, with mesh's settings in it, to fd (a memory file or an
 * ordinary one, at offset 0).  The same additions give the same octets.
 * Returns 0 or a negative errno.
 */
int builder_write(struct builder *b, int fd) __attribute__((warn_unused_result));

#endif

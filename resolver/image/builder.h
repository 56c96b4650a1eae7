/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collects names and their records in memory and writes them as one flat
 * table image.  Only the compiler process uses it.  Readers of source formats
 * add to a builder and know nothing of the image.
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

/* The policy that an image carries: octets below 4 GiB; size 0: none. */
struct image_policy {
	const uint8_t *octets;
	size_t size;
	size_t names;			/* of its files: table_peek() */
};

/* The image will carry these octets, which are borrowed: table_policy(). */
void builder_set_policy(struct builder *b, const struct image_policy *policy);

/* The image will stand for no table: table_is_loaded() is false of it. */
void builder_set_unloaded(struct builder *b);

/*
 * Starts the next source, in the order of the configuration.  If several
 * sources define a name, the first one wins.  If one source defines a name
 * several times, its records are joined.
 */
void builder_source(struct builder *b, unsigned int source);

/*
 * Registers a file that the current source includes; path is copied.  Returns
 * its number, for builder_file_set(), or -ENOMEM, or -E2BIG above 65535 files.
 */
int builder_file_add(struct builder *b, const char *path)
    __attribute__((warn_unused_result));

/*
 * Sets the file that the following additions come from.  builder_source() sets
 * it to the source's own file, which has the source's number.
 */
void builder_file_set(struct builder *b, unsigned int file);
unsigned int builder_file(const struct builder *b);

/* About so many names are added next: what holds them grows once. */
void builder_expect(struct builder *b, size_t names);

/*
 * Has the processor fetch the place of a name that is added soon.  In a large
 * table most of an addition is waiting for memory: a reader that calls this for
 * the next dozen names, before it adds them, waits once for all.
 */
void builder_prefetch(const struct builder *b, const struct dns_name *name);

/* Outcome of an addition. */
enum builder_added {
	BUILDER_ADDED,		/* new, or joined to the same source's name */
	BUILDER_DUPLICATE,	/* the name has that record already */
	BUILDER_SHADOWED,	/* an earlier source has the name: ignored */
	BUILDER_SKIPPED,	/* an allocated address: mesh_source.skip_allocated */
};

/*
 * Adds one record.  owner is lower-cased wire form; a first label "*" makes it
 * a wildcard.  flags are NAME_* (mesh.h).  ttl is in seconds.  rdata is in wire
 * format, uncompressed, rdlength octets, and copied.  line is its line in the
 * file (0: unknown).  Returns enum builder_added, -EINVAL if rdata is malformed
 * for the type, -ENOMEM, -E2BIG if the image would exceed 4 GiB, or -EFBIG
 * (builder_allow()).
 */
int builder_add(struct builder *b, const struct dns_name *owner, uint8_t flags,
    uint16_t type, uint32_t ttl, const void *rdata, uint16_t rdlength,
    unsigned int line) __attribute__((warn_unused_result));

/*
 * Adds an address of 4 or 16 octets that was allocated to the name alone
 * (Istio's auto-allocation); same returns.  builder_write() drops the allocated
 * addresses of a family that no other address of the table has.  If there are
 * no other addresses, it drops the IPv6 ones.  Loopback and unspecified
 * addresses do not count.  A name never loses its only address.
 */
int builder_add_allocated(struct builder *b, const struct dns_name *owner,
    uint32_t ttl, const uint8_t *octets, uint8_t length, unsigned int line)
    __attribute__((warn_unused_result));

/*
 * Makes alias share all records of owner, which was added before; only the name
 * takes memory.  Returns as builder_add(), and -ENOENT if there is no owner.
 */
int builder_alias(struct builder *b, const struct dns_name *owner,
    const struct dns_name *alias, uint8_t flags, unsigned int line)
    __attribute__((warn_unused_result));

/*
 * Adds name and the names above it as empty non-terminals (RFC 8020), as far as
 * they lie in a zone with unknown = "nxdomain".  0, -ENOMEM or -E2BIG.
 */
int builder_add_empty(struct builder *b, const struct dns_name *name)
    __attribute__((warn_unused_result));

/* Whether this name has records and the mesh owns it (NAME_OWNED). */
bool builder_owned(const struct builder *b, const struct dns_name *name);

/*
 * Drops the RRset of that type from owner and from all names that share its
 * records.  A name without records left is not in the image.
 */
void builder_drop(struct builder *b, const struct dns_name *owner,
    uint16_t type);

/* Whether records of that type were ever added. */
bool builder_has(const struct builder *b, uint16_t type);

/*
 * A record type of a name has at most so many records; those above are left out.
 * No answer has room for more: 64 KiB over TCP hold 4,095 addresses.
 */
#define BUILDER_RECORDS_MAX	4096

/* How many records were left out, and of which name the first, if any. */
size_t builder_crowded(const struct builder *b, char name[static NAME_TEXT_SIZE]);

/*
 * So many octets of sources are read: the image may have 64 times as many as all of
 * them, or 64 MiB, whichever is more.  Above that, additions are -EFBIG.
 */
void builder_allow(struct builder *b, size_t octets);

/* The name of the last addition: what an error is about.  False: none yet. */
bool builder_last_name(const struct builder *b, char name[static NAME_TEXT_SIZE]);

/*
 * How many names of the current source are ignored because an earlier source
 * defines them; each name counts once.
 */
size_t builder_shadowed(const struct builder *b);

/* For this many of them builder_shadow() has the details. */
#define BUILDER_SHADOWS_KEPT 20

/* An ignored name; the paths are borrowed from the builder. */
struct builder_shadow {
	struct dns_name name;
	const char *path;		/* of the file that is ignored */
	unsigned int line;
	const char *winner_path;
	unsigned int winner_line;
};

/* The nth one; n is below both builder_shadowed() and BUILDER_SHADOWS_KEPT. */
void builder_shadow(const struct builder *b, size_t n,
    struct builder_shadow *shadow);

/* How many names have records. */
size_t builder_names(const struct builder *b);

/*
 * Writes the image to fd (a memory file or an
 * ordinary one, at offset 0).  The same additions give the same octets.
 * Returns 0 or a negative errno.
 */
int builder_write(struct builder *b, int fd) __attribute__((warn_unused_result));

#endif

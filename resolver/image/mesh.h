/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mesh as the configuration describes it: where the table's sources are,
 * and what the compiler needs to make names of them.  Plain values; the config
 * shelf fills them in, the compiler turns them into an image.
 */
#ifndef NFDNS_RESOLVER_IMAGE_MESH_H
#define NFDNS_RESOLVER_IMAGE_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/dns/name.h"

struct source_format;		/* resolver/sources/source_format.h */

/* Which pods have names such as 1-2-3-4.NAMESPACE.pod. */
enum mesh_pods {
	PODS_DISABLED,
	PODS_VERIFIED,		/* those that are among the objects */
};

/* A list of texts of the config. */
struct mesh_texts {
	char **texts;
	size_t count;
};

/*
 * The settings are listed once, in MESH_SOURCE_FIELDS, MESH_ZONE_FIELDS and
 * MESH_FIELDS: the structs, mesh_clear() and the tests of the configuration are made
 * from these lists.
 *
 *   VALUE(type, name)	octets, the same in each process of one program
 *   TEXT(name)		char * of malloc(3); NULL: not given
 *   TEXTS(name)	struct mesh_texts
 *   ARRAY(type, name, count, most)
 *			the first "count" of "most" items
 *
 * A comment describes the field above it.
 */
#define MESH_SOURCE_FIELDS(VALUE, TEXT, TEXTS) \
	TEXT(path) \
		/* of the file or directory; of a feed, its kept table */ \
	TEXT(feed) \
		/* its name, if a feed keeps the table; NULL elsewhere */ \
	VALUE(uint32_t, stale_after) \
		/* seconds; of a feed */ \
	TEXT(origin) \
		/* zone files; NULL elsewhere */ \
	VALUE(uint32_t, ttl) \
		/* seconds; 0: the mesh's */ \
	TEXTS(namespaces) \
		/* of Kubernetes objects that have names; none: all */ \
	TEXT(cluster) \
		/* of these objects; NULL: any */ \
	TEXT(network) \
		/* of their endpoints; NULL: any */ \
	VALUE(enum mesh_pods, pods) \
	VALUE(bool, skip_allocated) \
		/* without addresses of istio_range_has() */ \
	VALUE(bool, watch) \
		/* load it again when it changes */ \
	VALUE(const char *, file) \
		/* of the configuration; */ \
	VALUE(unsigned int, line)
		/* there, for messages */

#define MESH_ZONE_FIELDS(VALUE) \
	VALUE(struct dns_name, name) \
		/* lower-cased */ \
	VALUE(enum zone_unknown, unknown) \
	VALUE(const char *, file) \
		/* of the configuration; */ \
	VALUE(unsigned int, line)
		/* there, for messages */

#define MESH_FIELDS(VALUE, TEXT, ARRAY) \
	VALUE(struct dns_name, domain) \
		/* "cluster.local", lower-cased */ \
	TEXT(namespace) \
		/* whose services have one-label names */ \
	TEXT(cluster) \
		/* this machine's; NULL: any */ \
	TEXT(network) \
	ARRAY(struct dns_name, search, search_count, MESH_MAX_SEARCH) \
	VALUE(uint32_t, ttl)
		/* seconds */

/* Declare the fields of a struct. */
#define MESH_DECLARE_VALUE(type, name)	type name;
#define MESH_DECLARE_TEXT(name)		char *name;
#define MESH_DECLARE_TEXTS(name)	struct mesh_texts name;
#define MESH_DECLARE_ARRAY(type, name, count, most) \
	type name[most]; \
	size_t count;

/* One entry of mesh.tables. */
struct mesh_source {
	const struct source_format *format;
	MESH_SOURCE_FIELDS(MESH_DECLARE_VALUE, MESH_DECLARE_TEXT,
	    MESH_DECLARE_TEXTS)
	int64_t changed;	/* set by the reader, no setting: when the
				   source last changed, CLOCK_REALTIME
				   seconds; of a directory, its newest file */
	bool left_out;		/* no setting either: it was broken at the start */
};

/* Flags of a name. */
#define NAME_OWNED	0x01	/* the mesh owns it: other types are NODATA, not passed */
#define NAME_CLOSEST	0x02	/* its wildcards end at names below (RFC 4592 section 3.3) */
#define NAME_SHORT	0x08	/* of a service: a search list leads to its whole name */

/* What a zone says about names in it that no table has. */
enum zone_unknown { ZONE_PASS, ZONE_NXDOMAIN };

/* One entry of mesh.zones: a name space that the mesh owns. */
struct mesh_zone {
	MESH_ZONE_FIELDS(MESH_DECLARE_VALUE)
};

#define MESH_MAX_SEARCH		32	/* glibc has no limit since 2.26 */
#define MESH_MAX_ZONES		64

struct mesh {
	MESH_FIELDS(MESH_DECLARE_VALUE, MESH_DECLARE_TEXT, MESH_DECLARE_ARRAY)
	struct mesh_source *sources;	/* the first that has a name wins */
	size_t source_count;
	struct mesh_zone zones[MESH_MAX_ZONES];
	size_t zone_count;
};

/*
 * The zones entry that decides about a lower-cased name: the deepest that it
 * lies in; NULL if there is none.
 */
const struct mesh_zone *mesh_zone_of(const struct mesh *mesh,
    const struct dns_name *name);

/* Frees what the mesh owns, all of it from malloc(3), and empties it. */
void mesh_clear(struct mesh *mesh);

/*
 * The two ranges that Istio keeps for addresses that it allocates to
 * ServiceEntries: 240.240.0.0/16 of class E, and 2001:2::/48 of benchmarking
 * (RFC 5180).
 */

#define ISTIO_RANGE_V4_OCTETS	2
#define ISTIO_RANGE_V6_OCTETS	6

/* The octets that all addresses of a range begin with. */
extern const uint8_t istio_range_v4[ISTIO_RANGE_V4_OCTETS];
extern const uint8_t istio_range_v6[ISTIO_RANGE_V6_OCTETS];

/* Whether an address of 4 or 16 octets lies in one of the ranges. */
bool istio_range_has(const uint8_t *octets, size_t length);

/*
 * The short names of a service of this cluster.  A pod reaches the service by
 * them through its search list; a machine without that search list needs them
 * in the table.
 */

/* A value: what all services of a mesh have in common. */
struct short_names {
	struct dns_name svc;		/* "svc" */
	struct dns_name services;	/* "svc." and the mesh's domain */
	struct dns_name namespace;	/* the mesh's own; the root if it has none */
};

/* 0, or -ENAMETOOLONG if no service can have a name below the mesh's domain. */
int short_names_init(struct short_names *names, const struct mesh *mesh)
    __attribute__((warn_unused_result));

/* Whether host is a service of this cluster; only those get short names. */
bool short_names_apply(const struct short_names *names,
    const struct dns_name *host);

#define SHORT_NAMES_MAX 3

/*
 * NAME if the namespace is the mesh's own, NAME.NAMESPACE, NAME.NAMESPACE.svc;
 * name may have several labels ("pod1.headless").  All lower-cased.  Returns
 * how many there are; *too_long is set if a name would be too long.
 */
size_t short_names_of(const struct short_names *names,
    const struct dns_name *name, const struct dns_name *namespace,
    struct dns_name found[static SHORT_NAMES_MAX], bool *too_long);

#endif

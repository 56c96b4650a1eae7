/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mesh as the configuration describes it: where the table's sources are
 * and how names from them are answered.  Plain values; the config shelf fills
 * them in, the compiler turns them into an image.
 */
#ifndef NFDNS_RESOLVER_IMAGE_MESH_H
#define NFDNS_RESOLVER_IMAGE_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/dns/name.h"

struct source_format;		/* resolver/sources/source_format.h */

/* Which names pods have that no service speaks of: 1-2-3-4.NAMESPACE.pod. */
enum mesh_pods {
	PODS_DISABLED,
	PODS_INSECURE,		/* whatever address stands in the name */
	PODS_VERIFIED,		/* those that are among the objects */
};

/*
 * From which range a ServiceEntry without an address gets one; BOTH: as far as
 * the table's other addresses are of both families.
 */
enum mesh_auto_allocate {
	AUTO_ALLOCATE_NONE,
	AUTO_ALLOCATE_IPV4,
	AUTO_ALLOCATE_IPV6,
	AUTO_ALLOCATE_BOTH,
};

/* A list of texts of the config. */
struct mesh_texts {
	char **texts;
	size_t count;
};

/* One entry of mesh.tables. */
struct mesh_source {
	const struct source_format *format;
	char *path;
	char *origin;		/* zone files; NULL elsewhere */
	uint32_t ttl;		/* seconds; 0: the mesh's */
	/* Kubernetes objects: */
	struct mesh_texts namespaces;	/* whose services have names; none: all */
	struct mesh_texts nameservers;	/* addresses of the cluster's DNS */
	char *cluster;		/* whose objects these are; NULL: any */
	char *network;		/* where its endpoints are; NULL: any */
	char *clusterset;	/* domain of ServiceImports; NULL: none */
	enum mesh_pods pods;
	bool ignore_empty;	/* services without a ready endpoint */
	bool endpoint_pod_names;	/* rather than their addresses */
	bool watch;		/* load it anew when it changes */
	int64_t changed;	/* once opened: when it last changed, CLOCK_REALTIME
				   seconds; of a directory, its newest file */
	unsigned int line;	/* of the config file, for messages */
};

/* Flags of a name. */
#define NAME_OWNED	0x01	/* the mesh owns it: other types are NODATA, not passed */
#define NAME_CLOSEST	0x02	/* its wildcards end at names below (RFC 4592 section 3.3) */
#define NAME_DASHED	0x04	/* "*.NAME": only for an address as a label, and has it */
#define NAME_SHORT	0x08	/* of a service: a search list leads to its whole name */

/* What a zone says about names in it that the table does not hold. */
enum zone_unknown { ZONE_PASS, ZONE_NXDOMAIN };

/* One entry of mesh.zones: a name space that the mesh owns. */
struct mesh_zone {
	struct dns_name name;	/* lower-cased */
	enum zone_unknown unknown;
};

/* Before any table was loaded. */
enum mesh_unloaded { UNLOADED_PASS, UNLOADED_SERVFAIL };

#define MESH_MAX_SEARCH		32	/* glibc has no limit since 2.26 */
#define MESH_MAX_ZONES		64

struct mesh {
	struct dns_name domain;		/* "cluster.local", lower-cased */
	char *namespace;		/* whose services have one-label names */
	char *cluster;			/* this machine's; NULL: any */
	char *network;
	bool multicluster_headless;	/* endpoints of other clusters too */
	enum mesh_auto_allocate auto_allocate;
	struct dns_name search[MESH_MAX_SEARCH];
	size_t search_count;
	uint32_t ttl;			/* seconds */
	uint32_t negative_ttl;		/* seconds; RFC 2308 section 5 */
	uint16_t udp_size;		/* octets, 512..4096 */
	bool suppress_https;
	bool tcp;			/* questions over TCP are answered, too */
	enum mesh_unloaded unloaded;
	unsigned int shrink_limit;	/* percent of the names, in a reload */
	struct mesh_source *sources;	/* in order: the first to name a name has it */
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

#endif

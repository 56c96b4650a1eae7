/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The short names of a service of this cluster.  A pod reaches the service by
 * them through its search list; a machine without that search list needs them
 * in the table.
 */
#ifndef NFDNS_RESOLVER_IMAGE_SHORT_NAMES_H
#define NFDNS_RESOLVER_IMAGE_SHORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "resolver/image/mesh.h"
#include "resolver/dns/name.h"

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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of objects that are watched: where the API has them, and what
 * resolver/kubernetes reads of each.  The rest of an object (its status, its
 * managed fields, a pod's whole template) is dropped as it arrives: it would be
 * nine tenths of the memory, and would make a new table each time it changes.
 */
#ifndef NFDNS_RESOLVER_FEED_KUBE_KIND_H
#define NFDNS_RESOLVER_FEED_KUBE_KIND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A member that is kept.  A row without a key ends the list.  Lists are
 * transparent: the same members are kept of each item.
 */
struct kube_field {
	const char *key;
	const struct kube_field *below;	/* NULL: all of the value */
};

struct kube_kind {
	const char *kind;		/* "Service" */
	const char *version;		/* of the API: "v1" */
	const char *path;		/* of the API: "/api/v1" */
	const char *plural;		/* "services" */
	const char *selector;		/* a field selector, escaped for a URL */
	const struct kube_field *fields;
	bool in_namespace;
	bool needed;			/* no table without it */
	bool pods;			/* only if pods are asked for */
};

extern const struct kube_kind kube_kinds[];
extern const size_t kube_kind_count;

#endif

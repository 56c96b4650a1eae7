/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all files of this room share: the state of reading objects and making
 * names, messages, and the parts that objects have in common.  This is the
 * lowest file of the room above objects.h.  Above it are the readers of single
 * objects, then names (names.c), then the reader of whole texts (reader.c).
 */
#ifndef NFDNS_RESOLVER_KUBERNETES_KUBERNETES_H
#define NFDNS_RESOLVER_KUBERNETES_KUBERNETES_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/image/builder.h"
#include "resolver/text/diag.h"
#include "resolver/sources/source_format.h"
#include "resolver/text/json_tree.h"
#include "resolver/kubernetes/objects.h"
#include "resolver/dns/name.h"
#include "resolver/image/mesh.h"

/* How much of a hostile text a message shows: "%.*s", KUBERNETES_SHOWN, text */
#define KUBERNETES_SHOWN 100

/* One of the texts that are read together; objects refer to it by index. */
struct kubernetes_source {
	struct source_text text;	/* without data, which is freed */
	uint32_t cluster;		/* strings; 0: any */
	uint32_t network;
};

/* All sources of the format while they are read. */
struct kubernetes {
	const struct source_text *text;	/* of the selected source */
	uint16_t source;		/* the selected one */
	struct builder *builder;
	struct diag *diag;
	struct objects objects;
	struct json_tree tree;
	struct kubernetes_source *sources;
	size_t source_count;
	uint32_t cluster;		/* this machine's, as in sources */
	uint32_t network;
	/* Istio's objects: istio_objects.h */
	struct object_list entries;
	struct object_list workloads;
	size_t entry_count;
	bool keeps_pods;		/* as workloads: entries may select them */
};

/* Selects the source that messages and additions to the builder are for. */
void kubernetes_select(struct kubernetes *k, uint16_t source);

/* One object; valid only while its reader runs. */
struct kubernetes_item {
	const char *kind;		/* "Service" */
	const char *namespace;		/* "" if the kind has none */
	const char *name;
	unsigned int line;		/* where it begins */
	const json_t *value;
	const json_t *metadata;
	const json_t *spec;	/* NULL if there is none */
};

/*
 * Adds a warning, "FILE:LINE: Service shop/cart: ...".  Texts of the source go
 * through "%.*s" and KUBERNETES_SHOWN.
 */
void kubernetes_warn(const struct kubernetes *k,
    const struct kubernetes_item *item, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The parts of objects.  All return 0, or -ENOMEM or -E2BIG.  A handle is 0 if
 * the text is unusable; then all but kubernetes_label() have added a warning.
 *
 * One label of a name, 1 to 63 octets without a dot, as a string in lower
 * case.
 */
int kubernetes_label(struct kubernetes *k, const char *text, uint32_t *label)
    __attribute__((warn_unused_result));
int kubernetes_namespace(struct kubernetes *k,
    const struct kubernetes_item *item, const char *name, uint32_t *namespace)
    __attribute__((warn_unused_result));

/* The service of that name in the item's namespace. */
int kubernetes_service(struct kubernetes *k,
    const struct kubernetes_item *item, const char *name, bool imported,
    uint32_t *service) __attribute__((warn_unused_result));

/* An array of ports, of a service or a slice; the handle is never 0. */
int kubernetes_read_ports(struct kubernetes *k,
    const struct kubernetes_item *item, const json_t *array,
    uint32_t *ports) __attribute__((warn_unused_result));

/* Reads an address.  Returns 4 or 16, or 0 if text is none or NULL. */
uint8_t kubernetes_address(const char *text, uint8_t octets[static 16]);

/* Whether the objects of a namespace get names (option namespaces). */
bool kubernetes_exposes(const struct source_text *text, const char *namespace);

/*
 * Whether a source's objects are of this machine's cluster, and in its network;
 * true if either side is unknown.
 */
bool kubernetes_in_cluster(const struct kubernetes *k, uint16_t source);
bool kubernetes_in_network(const struct kubernetes *k, uint16_t source);

/*
 * Writes an address of 4 or 16 octets as one label, NUL-terminated: 10-1-2-3,
 * fd00--1.  Kubernetes names pods this way, and endpoints without a hostname.
 */
void kubernetes_dashed(char text[static INET6_ADDRSTRLEN], const uint8_t *octets,
    uint8_t length);

/* Making names of all objects, after the last one was read. */

/*
 * Adds the names of services, endpoints and namespaces to k->builder.  A source
 * must be selected.  0, -ENOMEM or -E2BIG.
 */
int kubernetes_add_names(struct kubernetes *k)
    __attribute__((warn_unused_result));

/*
 * Adds the hosts of ServiceEntries; after kubernetes_add_names(), since a host
 * that is a name of Kubernetes is left to that.  Same returns.
 */
int istio_add_names(struct kubernetes *k) __attribute__((warn_unused_result));

/* The readers of single objects, one for each kind. */

/*
 * A reader keeps what names need in k->objects, or adds names that depend on
 * no other object.  A fault in the object is a warning.  Returns 0, or -ENOMEM
 * or -E2BIG.
 */
typedef int kubernetes_read_item(struct kubernetes *k,
    const struct kubernetes_item *item);

kubernetes_read_item kubernetes_read_namespace, kubernetes_read_service,
    kubernetes_read_slice, kubernetes_read_endpoints, kubernetes_read_pod,
    kubernetes_read_import, istio_read_service_entry,
    istio_read_workload_entry, istio_read_pod;

/* State of making names, and what all files that make names share. */

/* The domain of services that a set of clusters shares (KEP-1645, ServiceImport). */
#define CLUSTERSET "clusterset.local"

/* Start with k and objects set and short_names initialized. */
struct name_maker {
	struct kubernetes *k;
	struct objects *objects;
	int error;			/* sticky */
	/* Of the selected source: */
	uint32_t ttl;
	struct short_names short_names;
	bool has_imports;		/* there is a ServiceImport */
	struct dns_name svc;		/* "svc", the mesh's domain */
	struct dns_name clusterset;	/* CLUSTERSET */
	struct dns_name imports;	/* "svc", CLUSTERSET */
};

/*
 * name = prefix and label as one label, then suffix, which may be name itself.
 * False if that is too long.
 */
bool name_maker_label(struct dns_name *name, const char *prefix,
    const char *label, const struct dns_name *suffix)
    __attribute__((warn_unused_result));

/*
 * Reader of the format "kubernetes": objects of Kubernetes and of Istio.  The
 * functions are the members of struct source_format of the same name.
 */

int source_kubernetes_read(const struct source_text *text, struct builder *b,
    struct diag *diag) __attribute__((warn_unused_result));
struct source_set *source_kubernetes_begin(struct builder *b,
    struct diag *diag);
int source_kubernetes_add(struct source_set *set,
    const struct source_text *text) __attribute__((warn_unused_result));
int source_kubernetes_end(struct source_set *set, bool make_names);

#endif

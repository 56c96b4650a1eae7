/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading Kubernetes objects: what source_kubernetes.c, which finds the
 * objects in the text, shares with the readers of each kind and with those
 * who derive names from all objects together.
 */
#ifndef NFDNS_RESOLVER_KUBERNETES_KUBERNETES_H
#define NFDNS_RESOLVER_KUBERNETES_KUBERNETES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/image/builder.h"
#include "resolver/text/diag.h"
#include "resolver/sources/source_text.h"
#include "resolver/text/json_tree.h"
#include "resolver/kubernetes/objects.h"

/* How much of a hostile text a message shows: "%.*s", KUBERNETES_SHOWN, text */
#define KUBERNETES_SHOWN 100

/* One of the texts that are read together; what it held refers to it. */
struct kubernetes_place {
	struct source_text text;	/* its data no longer */
	uint32_t cluster;		/* strings; 0: any */
	uint32_t network;
};

/* All sources of the format while they are read. */
struct kubernetes {
	const struct source_text *text;	/* of the place where we are */
	uint16_t place;
	struct builder *builder;
	struct diag *diag;
	struct objects objects;
	struct json_tree tree;
	struct kubernetes_place *places;
	size_t place_count;
	uint32_t cluster;		/* this machine's, as in places */
	uint32_t network;
	/* Istio's objects: istio_objects.h */
	struct object_list entries;
	struct object_list workloads;
	size_t entry_count;
	bool keeps_pods;		/* among the workloads: some entry may ask */
};

/* Makes a place the one that messages and additions speak of. */
void kubernetes_go(struct kubernetes *k, uint16_t place);

/* One object; good only while its reader runs. */
struct kubernetes_item {
	const char *kind;		/* "Service" */
	const char *namespace;		/* "" for what has none */
	const char *name;
	unsigned int line;		/* where it begins */
	const struct json_node *value;
	const struct json_node *metadata;
	const struct json_node *spec;	/* NULL if there is none */
};

/* "FILE:LINE: Service shop/cart: ..."; texts of the source as "%.*s". */
void kubernetes_warn(const struct kubernetes *k,
    const struct kubernetes_item *item, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * A reader keeps what it needs in k->objects, or adds names that depend on
 * nothing else.  What is wrong with the object is a warning.  Returns 0, or
 * -ENOMEM or -E2BIG.
 */
typedef int kubernetes_read_item(struct kubernetes *k,
    const struct kubernetes_item *item);

kubernetes_read_item kubernetes_read_namespace, kubernetes_read_service,
    kubernetes_read_slice, kubernetes_read_endpoints, kubernetes_read_pod,
    kubernetes_read_import, istio_read_service_entry,
    istio_read_workload_entry, istio_read_pod;

/*
 * The parts of objects.  All return 0, or -ENOMEM or -E2BIG; a handle is 0
 * where the object has nothing usable, which kubernetes_label() leaves to the
 * caller to say and the others say as a warning.
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

/* An array of ports, of a service or a slice, never 0. */
int kubernetes_read_ports(struct kubernetes *k,
    const struct kubernetes_item *item, const struct json_node *array,
    uint32_t *ports) __attribute__((warn_unused_result));

/* An address; 4 or 16 octets, 0 if text is none. */
uint8_t kubernetes_address(const char *text, uint8_t octets[static 16]);

/* Whether names are to be made of what a namespace holds. */
bool kubernetes_exposes(const struct source_text *text, const char *namespace);

/*
 * Whether what comes from a place is of this machine's cluster, and in its
 * network; unknown on either side is both.
 */
bool kubernetes_in_cluster(const struct kubernetes *k, uint16_t place);
bool kubernetes_in_network(const struct kubernetes *k, uint16_t place);

/*
 * After all objects: their names, into the builder; then those of
 * ServiceEntries whose host is none of these.  Same returns.
 */
int kubernetes_add_names(struct kubernetes *k)
    __attribute__((warn_unused_result));
int istio_add_names(struct kubernetes *k) __attribute__((warn_unused_result));

#endif

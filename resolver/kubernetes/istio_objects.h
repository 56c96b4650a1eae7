/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is kept of Istio's objects (networking.istio.io) until names are made.
 * Handles refer to the arena and the strings of struct objects.
 */
#ifndef NFDNS_RESOLVER_KUBERNETES_ISTIO_OBJECTS_H
#define NFDNS_RESOLVER_KUBERNETES_ISTIO_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/kubernetes/kubernetes.h"

/* Labels of an object, or those that a selector asks for. */
struct istio_labels {
	uint32_t count;
	struct istio_label {
		uint32_t key;		/* strings */
		uint32_t value;
	} label[];
};

/* A WorkloadEntry, a pod, or an endpoint inside a ServiceEntry. */
struct istio_workload {
	uint32_t next;
	uint32_t namespace;		/* string */
	uint32_t labels;
	uint32_t network;		/* string; 0: its source's */
	uint16_t source;
	bool healthy;
	bool pod;
	uint8_t length;			/* 4 or 16 */
	uint8_t octets[16];
};

/* One of the hosts of a ServiceEntry. */
struct istio_host {
	uint32_t next;
	uint32_t text;			/* string: lower case, no final dot */
	struct object_list status;	/* addresses of status.addresses */
};

struct istio_entry {
	uint32_t next;
	uint32_t line;
	uint32_t namespace;		/* strings */
	uint32_t name;
	uint32_t created;		/* 0: not known */
	struct object_list hosts;
	struct object_list addresses;	/* struct object_address */
	struct object_list endpoints;	/* struct istio_workload */
	uint32_t selector;		/* labels; 0: none */
	uint16_t source;
	bool passthrough;		/* resolution NONE */
	bool has_addresses;		/* usable or not */
	bool auto_allocate;
	bool visible;			/* exported to the mesh's namespace */
};

/* Reads the endpoints inside a ServiceEntry.  0, -ENOMEM or -E2BIG. */
int istio_read_endpoints(struct kubernetes *k,
    const struct kubernetes_item *item, struct object_list *endpoints)
    __attribute__((warn_unused_result));

/* The labels of both objects; *labels is 0 for none.  Same returns. */
int istio_read_labels(struct kubernetes *k, json_t *object, json_t *others,
    uint32_t *labels)
    __attribute__((warn_unused_result));

/*
 * Whether the workload has all labels of the selector.  A selector without
 * labels, 0, selects nothing.
 */
bool istio_selects(const struct objects *objects, uint32_t selector,
    const struct istio_workload *workload);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names while they are made from objects: for those files that make them. */
#ifndef NFDNS_RESOLVER_KUBERNETES_NAME_MAKER_H
#define NFDNS_RESOLVER_KUBERNETES_NAME_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/kubernetes/kubernetes.h"
#include "resolver/dns/name.h"
#include "resolver/image/short_names.h"

struct making {
	struct kubernetes *k;
	struct objects *objects;
	int error;			/* sticky */
	/* Of the place where we are: */
	uint32_t ttl;
	bool ignore_empty;
	bool endpoint_pod_names;
	bool has_clusterset;
	struct short_names short_names;
	struct dns_name svc;		/* "svc", the mesh's domain */
	struct dns_name imports;	/* "svc", the domain of imports */
};

/* Goes to a place: what it says, and how it is to be read. */
void making_go(struct making *m, uint16_t place);

/* Adds a record that the mesh owns. */
void making_add(struct making *m, const struct dns_name *owner, uint16_t type,
    const void *rdata, size_t length, unsigned int line);
void making_add_address(struct making *m, const struct dns_name *owner,
    const uint8_t *octets, uint8_t length, unsigned int line);

/* name = prefix and label as one label, suffix.  False if that is too long. */
bool making_label(struct dns_name *name, const char *prefix, const char *label,
    const struct dns_name *suffix) __attribute__((warn_unused_result));

/* "SERVICE.NAMESPACE.svc..."; false if that is too long. */
bool making_service_name(const struct making *m,
    const struct object_service *service, struct dns_name *name)
    __attribute__((warn_unused_result));

/*
 * The service's endpoint at that handle, or the next one that counts: ready,
 * or wanted all the same, in this machine's network, and not said by
 * EndpointSlices too.  0 at the end.
 */
uint32_t making_endpoint(const struct making *m,
    const struct object_service *service, uint32_t endpoint);

/* Whether an endpoint is one of the addresses of a headless service. */
bool making_joins(const struct making *m, const struct object_endpoint *e);

/* The names of one service, of its ports and its endpoints. */
void making_service(struct making *m, const struct object_service *service);

/*
 * The names that belong to no service: of the domain itself, of namespaces,
 * and of pods whose address stands in their name.
 */
void making_domain(struct making *m);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of making names, and what all files that make names share. */
#ifndef NFDNS_RESOLVER_KUBERNETES_NAME_MAKER_H
#define NFDNS_RESOLVER_KUBERNETES_NAME_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/kubernetes/kubernetes.h"
#include "resolver/dns/name.h"
#include "resolver/image/short_names.h"

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
 * Adds a record or an address of 4 or 16 octets, which the mesh owns, with the
 * source's TTL; line is where its object stands.  Errors: m->error.
 */
void name_maker_add(struct name_maker *m, const struct dns_name *owner,
    uint16_t type, const void *rdata, size_t length, unsigned int line);
void name_maker_add_address(struct name_maker *m, const struct dns_name *owner,
    const uint8_t *octets, uint8_t length, unsigned int line);

/*
 * name = prefix and label as one label, then suffix, which may be name itself.
 * False if that is too long.
 */
bool name_maker_label(struct dns_name *name, const char *prefix,
    const char *label, const struct dns_name *suffix)
    __attribute__((warn_unused_result));

/* "SERVICE.NAMESPACE.svc..."; false if that is too long. */
bool name_maker_service_name(const struct name_maker *m,
    const struct object_service *service, struct dns_name *name)
    __attribute__((warn_unused_result));

/*
 * The first endpoint of the service that counts, from that handle on; 0 at the
 * end.  It must be ready, unless the service publishes all, be in this
 * machine's network, and not come from Endpoints if there are EndpointSlices.
 */
uint32_t name_maker_endpoint(const struct name_maker *m,
    const struct object_service *service, uint32_t endpoint);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses for ServiceEntries that have none of their own, from the two
 * ranges that Istio keeps for them: 240.240.0.0/16 of class E, and 2001:2::/48
 * of benchmarking (RFC 5180).
 *
 * An entry's place is a hash of its namespace and host, so it depends on the
 * others only where two collide: then the one that was taken first keeps it.
 * Who takes in the order of creation moves nothing by adding.
 */
#ifndef NFDNS_RESOLVER_KUBERNETES_ISTIO_ADDRESS_H
#define NFDNS_RESOLVER_KUBERNETES_ISTIO_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both addresses of one entry. */
struct istio_address {
	uint8_t v4[4];
	uint8_t v6[16];
};

/* Those that are taken; a value of zeros has none.  16 KiB. */
struct istio_addresses {
	uint8_t v4[65536 / 8];		/* by the last two octets */
	uint8_t v6[65536 / 8];		/* of 2001:2::f0f0:0/112, by the last two */
	bool full;
};

/*
 * Takes an address that the mesh itself gave, so that nobody else gets it;
 * one outside the ranges is none of ours.
 */
void istio_address_reserve(struct istio_addresses *taken,
    const uint8_t *octets, size_t length);

/*
 * Takes the addresses of namespace and host, both as text in lower case.
 * Returns 0, or -ENOSPC when none of the 60,000 is left.
 */
int istio_address_take(struct istio_addresses *taken, const char *namespace,
    const char *host, struct istio_address *address)
    __attribute__((warn_unused_result));

#endif

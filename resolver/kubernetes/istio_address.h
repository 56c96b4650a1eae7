/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates addresses to ServiceEntries that have none, from the two ranges
 * that Istio keeps for them (resolver/image/mesh.h).
 *
 * A hash of an entry's namespace and host says which slot of the range it gets.
 * Other entries matter only in a collision: the first to take a slot keeps it.
 * A caller that takes addresses in the order of the entries' creation therefore
 * never changes an address by adding an entry.
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

/* The taken addresses; start from zeros.  16 KiB. */
struct istio_addresses {
	uint8_t v4[65536 / 8];		/* by the last two octets */
	uint8_t v6[65536 / 8];		/* of 2001:2::f0f0:0/112, by the last two */
	bool full;
};

/*
 * Marks an address of 4 or 16 octets that an object has as taken.  Addresses
 * outside the ranges are ignored.
 */
void istio_address_reserve(struct istio_addresses *taken,
    const uint8_t *octets, size_t length);

/*
 * Takes the addresses for namespace and host, both as text in lower case.
 * Returns 0, or -ENOSPC when none of the about 65,000 is left.
 */
int istio_address_take(struct istio_addresses *taken, const char *namespace,
    const char *host, struct istio_address *address)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slots and their order are those of istiod without its controller for
 * addresses (serviceentry/controller.go, autoAllocateIPs): a sidecar listens
 * on the address that istiod computes, so ours must be the same.  Where istiod
 * computes one address for two slots (it shifts all later ones, or gives both
 * the same), this code tries the next slot.
 */
#include "resolver/kubernetes/istio_address.h"

#include <errno.h>
#include <string.h>

#include "resolver/image/mesh.h"

/* How many slots, and the largest prime below that. */
#define SLOTS	(256 * 254)
#define PRIME	65011

/* The fourth octet is never 255: a third one has 255 slots, 0 unused. */
#define FOURTHS	255

static bool
is_taken(const uint8_t *bits, unsigned int n)
{
	return (bits[n / 8] & (1U << n % 8)) != 0;
}

static void
take(uint8_t *bits, unsigned int n)
{
	bits[n / 8] = (uint8_t)(bits[n / 8] | 1U << n % 8);
}

/* FNV-1a, 32 bits, carried on. */
static uint32_t
hash_on(uint32_t hash, const char *text)
{
	for (; *text != '\0'; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619U;
	return hash;
}

/*
 * The last 16 bits of the IPv6 address.  istiod writes both octets in hex
 * without a leading zero: 1.5 becomes "15", 18.5 becomes "125".
 */
static unsigned int
tail_v6(unsigned int third, unsigned int fourth)
{
	return fourth < 16 ? third << 4 | fourth : third << 8 | fourth;
}

static void
write_address(struct istio_address *address, unsigned int third,
    unsigned int fourth)
{
	unsigned int tail = tail_v6(third, fourth);

	*address = (struct istio_address){
		.v4 = { istio_range_v4[0], istio_range_v4[1], (uint8_t)third,
		    (uint8_t)fourth },
		.v6 = { [12] = 0xf0, 0xf0, (uint8_t)(tail >> 8),
		    (uint8_t)tail },
	};
	memcpy(address->v6, istio_range_v6, sizeof(istio_range_v6));
}

void
istio_address_reserve(struct istio_addresses *taken, const uint8_t *octets,
    size_t length)
{
	struct istio_address shape;

	if (!istio_range_has(octets, length))
		return;
	write_address(&shape, 0, 0);
	if (length == 4)
		take(taken->v4, (unsigned int)octets[2] << 8 | octets[3]);
	else if (memcmp(octets, shape.v6, 14) == 0)
		take(taken->v6, (unsigned int)octets[14] << 8 | octets[15]);
}

/* False if the slot, from 0, has no address or one that is taken. */
static bool
take_slot(struct istio_addresses *taken, unsigned int slot,
    struct istio_address *address)
{
	unsigned int third = (slot + 1) / FOURTHS;
	unsigned int fourth = (slot + 1) % FOURTHS;
	unsigned int tail = tail_v6(third, fourth);

	if (fourth == 0 || is_taken(taken->v4, third << 8 | fourth) ||
	    is_taken(taken->v6, tail))
		return false;
	take(taken->v4, third << 8 | fourth);
	take(taken->v6, tail);
	write_address(address, third, fourth);
	return true;
}

int
istio_address_take(struct istio_addresses *taken, const char *namespace,
    const char *host, struct istio_address *address)
{
	uint32_t hash = hash_on(hash_on(hash_on(2166136261U, namespace), "/"),
	    host);
	uint32_t step = PRIME - hash % PRIME;

	if (taken->full)
		return -ENOSPC;
	/* As istiod does it, in 32 bits: the sum may wrap. */
	for (uint32_t i = 0; i < SLOTS; i++)
		if (take_slot(taken, (hash + i * step) % SLOTS, address))
			return 0;
	/* Steps that have a factor in common with SLOTS miss some. */
	for (unsigned int slot = 0; slot < SLOTS; slot++)
		if (take_slot(taken, slot, address))
			return 0;
	taken->full = true;
	return -ENOSPC;
}

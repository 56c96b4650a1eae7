/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses that were made up for names.  Nothing answers at one whose family
 * the mesh does not have, and yet clients try it: by RFC 6724 they prefer
 * 2001:2::/48 to IPv4 as soon as there is a route for it.  Which families the
 * mesh has, its other addresses tell, and only when all sources were read.
 */
#include "resolver/image/builder.h"

#include <string.h>

#include "resolver/image/builder_state.h"
#include "resolver/kubernetes/istio_address.h"
#include "resolver/dns/rr.h"

struct build_made_up {
	uint32_t next;
	uint32_t node;
};

/* Whether all octets are 0, or all but a final 1 (RFC 4291 section 2.5). */
static bool
is_nowhere_v6(const uint8_t *octets)
{
	static const uint8_t zeros[15];

	return memcmp(octets, zeros, sizeof(zeros)) == 0 && octets[15] <= 1;
}

void
build_note_family(struct builder *b, uint16_t type, const uint8_t *octets)
{
	static const uint8_t zeros[4];

	if (type == TYPE_A && octets[0] != 127 &&
	    memcmp(octets, zeros, sizeof(zeros)) != 0 &&
	    !istio_address_within(octets, 4))
		b->has_ipv4 = true;
	if (type == TYPE_AAAA && !is_nowhere_v6(octets) &&
	    !istio_address_within(octets, 16))
		b->has_ipv6 = true;
}

int
builder_add_made_up(struct builder *b, const struct dns_name *owner,
    uint32_t ttl, const uint8_t *octets, uint8_t length, unsigned int line)
{
	uint16_t type = length == 4 ? TYPE_A : TYPE_AAAA;
	bool has_ipv4 = b->has_ipv4, has_ipv6 = b->has_ipv6;
	struct build_key key = build_key_of(owner);
	struct build_made_up *made_up;
	uint32_t handle;
	int outcome = builder_add(b, owner, 0, type, ttl, octets, length,
	    line), error;

	/* Where istiod's ranges are others, it is still no other address. */
	b->has_ipv4 = has_ipv4;
	b->has_ipv6 = has_ipv6;
	if (outcome != BUILDER_ADDED)
		return outcome;
	error = arena_take(&b->arena, sizeof(*made_up), &handle);
	if (error != 0)
		return error;
	made_up = BUILD_AT(b, struct build_made_up, handle);
	made_up->next = b->first_made_up;
	made_up->node = build_node_find(b, &key);
	b->first_made_up = handle;
	return outcome;
}

void
build_choose_families(struct builder *b)
{
	/* Without any other address IPv4: it is preferred to nothing. */
	uint16_t unwanted = !b->has_ipv6 ? TYPE_AAAA : TYPE_A;
	uint16_t wanted = !b->has_ipv6 ? TYPE_A : TYPE_AAAA;
	const struct build_made_up *made_up;

	if (b->mesh->auto_allocate != AUTO_ALLOCATE_BOTH ||
	    (b->has_ipv4 && b->has_ipv6))
		return;
	for (uint32_t handle = b->first_made_up; handle != 0;
	    handle = made_up->next) {
		made_up = BUILD_AT(b, const struct build_made_up, handle);
		/* What istiod gave only the one of keeps it. */
		if (build_has_type(b, made_up->node, wanted))
			build_drop_type(b, made_up->node, unwanted);
	}
	b->first_made_up = 0;
}

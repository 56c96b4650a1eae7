/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Empty non-terminals: names that exist because others lie below them (RFC
 * 4592 section 2.2.2).  Two things need them: zones with unknown = "nxdomain",
 * where all other names get NXDOMAIN, and the wildcards of zone files, which do
 * not match below an existing name.
 */
#include <limits.h>
#include <string.h>

#include "resolver/image/builder.h"
#include "resolver/image/builder_state.h"
#include "resolver/image/image.h"

/* Drops the first label; the name is not the root. */
static void
to_parent(struct dns_name *name)
{
	size_t label = 1u + name->octets[0];

	name->length = (uint8_t)(name->length - label);
	name->labels--;
	memmove(name->octets, name->octets + label, name->length);
}

/*
 * Makes nodes without records for name and the names above it that lie in a
 * zone with unknown = "nxdomain": these exist (RFC 8020).
 */
static int
add_non_terminals(struct builder *b, struct dns_name *name)
{
	for (;;) {
		const struct mesh_zone *zone = mesh_zone_of(b->mesh, name);
		struct build_key key = { name->octets, name->length,
		    name->labels, 0 };
		uint32_t node;
		bool created;
		int error;

		if (zone != NULL && zone->unknown == ZONE_NXDOMAIN) {
			error = build_node_get(b, &key, &node, &created);
			/* An existing node's ancestors are added for it. */
			if (error != 0 || !created)
				return error;
		}
		if (zone == NULL || name->labels == 0)
			return 0;
		to_parent(name);
	}
}

int
builder_add_empty(struct builder *b, const struct dns_name *name)
{
	struct dns_name above = *name;

	return add_non_terminals(b, &above);
}

/* The node's name; of a wildcard, the one above it. */
static void
name_of_node(struct dns_name *name, const struct build_node *node)
{
	name->length = node->length;
	name->labels = node->labels;
	memcpy(name->octets, node->octets, node->length);
}

/* The names above all names, for zones with unknown = "nxdomain". */
static int
add_for_zones(struct builder *b)
{
	struct dns_name name;

	for (uint32_t handle = b->first_node; handle != 0;
	    handle = BUILD_AT(b, struct build_node, handle)->next) {
		const struct build_node *node =
		    BUILD_AT(b, const struct build_node, handle);
		int error;

		if (node->set == 0)
			continue;
		name_of_node(&name, node);
		if ((node->flags & IMAGE_WILDCARD) == 0) {
			if (name.labels == 0)
				continue;
			to_parent(&name);
		}
		error = add_non_terminals(b, &name);
		if (error != 0)
			return error;
	}
	return 0;
}

/*
 * The names above a name of a zone file that may be a closer encloser than a
 * wildcard's parent (RFC 4592 section 3.3.1).  A name with no more labels than
 * the shortest wildcard cannot be one.
 */
static int
add_enclosers(struct builder *b, struct dns_name *name)
{
	while (name->labels > b->closest_labels) {
		struct build_key key = { name->octets, name->length,
		    name->labels, 0 };
		uint32_t node;
		bool created;
		int error = build_node_get(b, &key, &node, &created);

		if (error != 0)
			return error;
		to_parent(name);
	}
	return 0;
}

static int
add_for_wildcards(struct builder *b)
{
	struct dns_name name;

	for (uint32_t handle = b->first_node; handle != 0;
	    handle = BUILD_AT(b, struct build_node, handle)->next) {
		const struct build_node *node =
		    BUILD_AT(b, const struct build_node, handle);
		int error;

		if (node->set == 0 || (node->flags & NAME_CLOSEST) == 0)
			continue;
		name_of_node(&name, node);
		error = add_enclosers(b, &name);
		if (error != 0)
			return error;
	}
	return 0;
}

int
build_non_terminals(struct builder *b)
{
	struct dns_name name;
	bool wanted = false;
	int error = 0;

	for (size_t i = 0; i < b->mesh->zone_count && error == 0; i++) {
		wanted |= b->mesh->zones[i].unknown == ZONE_NXDOMAIN;
		name = b->mesh->zones[i].name;
		error = add_non_terminals(b, &name);
	}
	if (error == 0 && wanted)
		error = add_for_zones(b);
	/* Second, since the walk above stops at what is there already. */
	if (error == 0 && b->closest_labels != UINT_MAX)
		error = add_for_wildcards(b);
	return error;
}

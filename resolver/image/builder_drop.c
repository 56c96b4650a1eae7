/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way back: records that turn out to be of no use leave the builder. */
#include "resolver/image/builder.h"

#include "resolver/image/builder_state.h"
#include "resolver/image/image.h"

bool
builder_has(const struct builder *b, uint16_t type)
{
	return (b->types[type / 8] & 1 << type % 8) != 0;
}

/* Where the node's RRset of that type hangs; NULL if it has none. */
static uint32_t *
find_link(const struct builder *b, uint32_t node, uint16_t type)
{
	uint32_t set = node != 0 ?
	    BUILD_AT(b, const struct build_node, node)->set : 0;
	uint32_t *link = set != 0 ?
	    &BUILD_AT(b, struct build_set, set)->first : NULL;

	while (link != NULL && *link != 0) {
		struct build_rrset *rrset =
		    BUILD_AT(b, struct build_rrset, *link);

		if (rrset->type == type)
			return link;
		link = &rrset->next;
	}
	return NULL;
}

bool
build_has_type(const struct builder *b, uint32_t node, uint16_t type)
{
	return find_link(b, node, type) != NULL;
}

void
build_drop_type(struct builder *b, uint32_t node, uint16_t type)
{
	uint32_t *link = find_link(b, node, type);

	if (link == NULL)
		return;
	*link = BUILD_AT(b, const struct build_rrset, *link)->next;
	b->dropped = true;
}

void
builder_drop(struct builder *b, const struct dns_name *owner, uint16_t type)
{
	struct build_key key = build_key_of(owner);

	build_drop_type(b, build_node_find(b, &key), type);
}

void
build_sweep(struct builder *b)
{
	uint32_t handle = b->dropped ? b->first_node : 0, before = 0, next;

	for (; handle != 0; handle = next) {
		struct build_node *node =
		    BUILD_AT(b, struct build_node, handle);

		next = node->next;
		if (node->set != 0 && BUILD_AT(b, const struct build_set,
		    node->set)->first == 0) {
			node->set = 0;
			b->name_count--;
		}
		if (node->set != 0 || (node->flags & IMAGE_WILDCARD) == 0) {
			before = handle;
			continue;
		}
		/* No name lies below a wildcard: without records it is none. */
		b->node_count--;
		if (before != 0)
			BUILD_AT(b, struct build_node, before)->next = next;
		else
			b->first_node = next;
		if (next == 0)
			b->last_node = before;
	}
	b->dropped = false;
}

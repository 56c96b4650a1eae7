/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names that others of the table are short for. */
#include "resolver/image/table.h"

#include "resolver/image/image.h"

_Static_assert(TABLE_ALIASES == 1 + IMAGE_ORIGINS, "of an alias of those");

/* The node that a set follows. */
static const struct image_node *
owner_of(const struct table *t, uint32_t set)
{
	const struct image_set *s = (const void *)(t->image + set);

	return (const void *)((const uint8_t *)s - (size_t)4 * s->back);
}

bool
table_is_alias(const struct table *t, uint32_t node)
{
	const uint32_t set = table_node(t, node)->set;
	const struct image_set *s = (const void *)(t->image + set);

	return set != node + 4u * s->back || s->origins != 0;
}

unsigned int
table_labels(const struct table *t, uint32_t node)
{
	struct dns_name name;

	(void)table_load_name(&name, table_node_name(table_node(t, node)));
	return name.labels;
}

bool
table_alias(const struct table *t, uint32_t node, unsigned int index,
    struct dns_name *name, bool *wildcard)
{
	const struct image_node *n = table_node(t, node), *owner;
	const uint32_t *origins;
	unsigned int count;

	owner = owner_of(t, n->set);
	if (owner == n || index > 0) {
		origins = image_origins(t->image, n->set, &count);
		if (owner != n)
			index--;
		if (index >= count)
			return false;
		owner = owner_of(t, origins[index]);
	}
	(void)table_load_name(name, table_node_name(owner));
	*wildcard = (owner->flags & IMAGE_WILDCARD) != 0;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/forward/held.h"

#include <errno.h>
#include <stdlib.h>

int
held_open(struct held_table *t, uint32_t max)
{
	SLIST_INIT(&t->free);
	t->count = t->most = 0;
	t->all = calloc(max, sizeof(*t->all));
	if (t->all == NULL)
		return -ENOMEM;
	/* The last freed is taken first, so few places are ever touched. */
	for (uint32_t i = max; i > 0; i--)
		SLIST_INSERT_HEAD(&t->free, &t->all[i - 1], entry);
	return 0;
}

void
held_close(struct held_table *t)
{
	free(t->all);
	t->all = NULL;
}

struct held *
held_take(struct held_table *t, size_t length)
{
	struct held *h = SLIST_FIRST(&t->free);

	if (h == NULL || length > sizeof(h->octets))
		return NULL;
	SLIST_REMOVE_HEAD(&t->free, entry);
	h->used = true;
	if (++t->count > t->most)
		t->most = t->count;
	return h;
}

void
held_give(struct held_table *t, struct held *h)
{
	SLIST_INSERT_HEAD(&t->free, h, entry);
	h->used = false;
	t->count--;
}

/* Places that were never in use lie behind the others, untouched. */
const struct held *
held_walk(const struct held_table *t, uint32_t *place)
{
	while (*place < t->most) {
		const struct held *h = &t->all[(*place)++];

		if (h->used)
			return h;
	}
	return NULL;
}

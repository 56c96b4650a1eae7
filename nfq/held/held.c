/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/held/held.h"

#include <errno.h>
#include <stdlib.h>

int
held_open(struct held_table *t, uint32_t max)
{
	SLIST_INIT(&t->free);
	t->count = t->most = 0;
	t->max = max;
	t->all = calloc(max, sizeof(*t->all));
	return t->all == NULL ? -ENOMEM : 0;
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

	if (length > sizeof(h->octets) || (h == NULL && t->most == t->max))
		return NULL;
	if (h != NULL)
		SLIST_REMOVE_HEAD(&t->free, entry);
	else
		h = &t->all[t->most++];
	t->count++;
	return h;
}

void
held_give(struct held_table *t, struct held *h)
{
	SLIST_INSERT_HEAD(&t->free, h, entry);
	t->count--;
}

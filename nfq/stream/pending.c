/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream/pending.h"

#include <stdlib.h>
#include <string.h>

void
stream_pending_init(struct stream_pendings *list)
{
	*list = (struct stream_pendings){ .unsent = NULL };
	TAILQ_INIT(&list->all);
}

struct stream_pending *
stream_pending_new(const uint8_t *message, size_t length)
{
	struct stream_pending *p = malloc(sizeof(*p) + STREAM_PREFIX + length);

	if (p == NULL)
		return NULL;
	p->unmatched = false;
	p->length = STREAM_PREFIX + length;
	stream_frame_put(p->octets, length);
	memcpy(p->octets + STREAM_PREFIX, message, length);
	return p;
}

void
stream_pending_append(struct stream_pendings *list, struct stream_pending *p)
{
	TAILQ_INSERT_TAIL(&list->all, p, link);
	if (list->unsent == NULL) {
		list->unsent = p;
		list->sent = 0;
	}
	list->count++;
	list->octets += p->length;
}

void
stream_pending_drop(struct stream_pendings *list, struct stream_pending *p)
{
	if (list->unsent == p) {
		list->unsent = TAILQ_NEXT(p, link);
		list->sent = 0;
	}
	TAILQ_REMOVE(&list->all, p, link);
	list->count--;
	list->octets -= p->length;
	free(p);
}

void
stream_pending_clear(struct stream_pendings *list)
{
	struct stream_pending *p, *next;

	for (p = TAILQ_FIRST(&list->all); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		free(p);
	}
	TAILQ_INIT(&list->all);
	list->unsent = NULL;
	list->sent = list->octets = 0;
	list->count = 0;
}

void
stream_pending_sent(struct stream_pendings *list, size_t n)
{
	while (n > 0) {
		struct stream_pending *p = list->unsent;
		size_t left = p->length - list->sent;

		if (n < left) {
			list->sent += n;
			return;
		}
		n -= left;
		list->unsent = TAILQ_NEXT(p, link);
		list->sent = 0;
		if (p->unmatched)
			stream_pending_drop(list, p);
	}
}

void
stream_pending_send_again(struct stream_pendings *list)
{
	list->unsent = TAILQ_FIRST(&list->all);
	list->sent = 0;
}

struct stream_pending *
stream_pending_find(struct stream_pendings *list, const uint8_t *message,
    size_t length)
{
	struct stream_pending *p;

	if (length < 2)
		return NULL;
	TAILQ_FOREACH(p, &list->all, link) {
		if (p == list->unsent)
			break;
		if (memcmp(stream_pending_message(p), message, 2) == 0)
			return p;
	}
	return NULL;
}

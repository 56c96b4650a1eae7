/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The questions of one connection that its nameserver has not answered yet.
 * Only relay.c and pending.c include this header.
 */
#ifndef NFDNS_NFQ_STREAM_PENDING_H
#define NFDNS_NFQ_STREAM_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nfq/stream/frame.h"

struct stream_pending {
	TAILQ_ENTRY(stream_pending) link;
	bool unmatched;			/* forgotten as soon as it is sent */
	size_t length;			/* of octets */
	uint8_t octets[];		/* as they are sent: prefix and message */
};

struct stream_pendings {
	TAILQ_HEAD(, stream_pending) all;	/* oldest first */
	struct stream_pending *unsent;	/* the first not sent completely, or NULL */
	size_t sent;			/* octets of that one that were sent */
	unsigned int count;
	size_t octets;			/* of all */
};

static inline const uint8_t *
stream_pending_message(const struct stream_pending *p)
{
	return p->octets + STREAM_PREFIX;
}

void stream_pending_init(struct stream_pendings *list);

/* A question with a copy of the message.  NULL: out of memory. */
struct stream_pending *stream_pending_new(const uint8_t *message,
    size_t length);

/* Appends p, which the list owns from then on. */
void stream_pending_append(struct stream_pendings *list,
    struct stream_pending *p);

/* Removes and frees one question, or all. */
void stream_pending_drop(struct stream_pendings *list,
    struct stream_pending *p);
void stream_pending_clear(struct stream_pendings *list);

/* Takes note that n more octets were sent; or that all must be sent again. */
void stream_pending_sent(struct stream_pendings *list, size_t n);
void stream_pending_send_again(struct stream_pendings *list);

/*
 * The question that has the id of a message of the nameserver, if it was sent;
 * else NULL.
 */
struct stream_pending *stream_pending_find(struct stream_pendings *list,
    const uint8_t *message, size_t length);

#endif

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

struct stream_asked;
struct stream_chase;

struct stream_pending {
	TAILQ_ENTRY(stream_pending) link;
	struct stream_chase *chase;	/* owned; NULL: the client's own question */
	struct stream_asked *asked;	/* owned; NULL: recorded */
	bool unmatched;			/* forgotten as soon as it is sent */
	size_t length;			/* of octets */
	uint8_t octets[];		/* as they are sent: prefix and message */
};

struct stream_pendings {
	TAILQ_HEAD(, stream_pending) all;	/* oldest first */
	struct stream_pending *unsent;	/* the first not sent completely, or NULL */
	size_t sent;			/* octets of that one that were sent */
	unsigned int count;
	unsigned int chases;		/* of these */
	size_t octets;			/* of all, with what their chases keep */
	uint16_t next_id;		/* that a chase tries next */
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

/* Appends p, which the list owns from then on.  p->chase must be set before. */
void stream_pending_append(struct stream_pendings *list,
    struct stream_pending *p);

/* Removes and frees one question, or all. */
void stream_pending_drop(struct stream_pendings *list,
    struct stream_pending *p);
void stream_pending_clear(struct stream_pendings *list);

/* Takes note that n more octets were sent; or that all must be sent again. */
void stream_pending_sent(struct stream_pendings *list, size_t n);
void stream_pending_send_again(struct stream_pendings *list);

/* Returns id if no question of the list has it, else an id that none has. */
uint16_t stream_pending_free_id(struct stream_pendings *list, uint16_t id);

/*
 * The question that has the id of a message of the nameserver, if it was sent;
 * else NULL.  If both a chase and a question of the client have that id, the
 * chase is found only if the message answers it.  A chase that alone has the id
 * is found in any case: ask stream_pending_is_chased().
 */
struct stream_pending *stream_pending_find(struct stream_pendings *list,
    const uint8_t *message, size_t length);

/* Whether p is a chase and the message answers its question. */
bool stream_pending_is_chased(const struct stream_pending *p,
    const uint8_t *message, size_t length);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The questions of one connection that its nameserver has not answered yet.
 * Only relay.c includes this.
 */
#ifndef NFDNS_NFQ_STREAM_PENDING_H
#define NFDNS_NFQ_STREAM_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nfq/stream/frame.h"

struct stream_chase;

struct stream_pending {
	TAILQ_ENTRY(stream_pending) link;
	struct stream_chase *chase;	/* owned; NULL: the client's own question */
	size_t length;			/* with the prefix */
	uint8_t octets[];		/* as they are sent */
};

struct stream_pendings {
	TAILQ_HEAD(, stream_pending) all;	/* in the order in which they came */
	struct stream_pending *unsent;	/* the first that is not sent whole */
	size_t sent;			/* octets of that one */
	unsigned int count;
	unsigned int chases;		/* of these */
	size_t octets;			/* of all, and what chases keep */
	uint16_t next_id;		/* to try for a chase */
};

static inline const uint8_t *
stream_pending_message(const struct stream_pending *p)
{
	return p->octets + STREAM_PREFIX;
}

void stream_pending_init(struct stream_pendings *list);

/* Copies the message.  NULL for lack of memory. */
struct stream_pending *stream_pending_new(const uint8_t *message,
    size_t length);

/* The list owns it then.  Its chase, if any, is there already. */
void stream_pending_append(struct stream_pendings *list,
    struct stream_pending *p);

/* Takes p out and frees it, or all. */
void stream_pending_drop(struct stream_pendings *list,
    struct stream_pending *p);
void stream_pending_clear(struct stream_pendings *list);

/* So many octets more of the unsent ones are sent; or none of any. */
void stream_pending_sent(struct stream_pendings *list, size_t n);
void stream_pending_send_again(struct stream_pendings *list);

/* This id, or, if a question of the list has it, one that none has. */
uint16_t stream_pending_free_id(struct stream_pendings *list, uint16_t id);

/*
 * The question that a message of the nameserver answers; NULL: none that was
 * sent.  It is told by its id.  Of a chase, whose id is ours, the question has
 * to be the same, too, or nobody else has the id: stream_pending_is_chased().
 */
struct stream_pending *stream_pending_find(struct stream_pendings *list,
    const uint8_t *message, size_t length);

/* Whether the message answers the question of a chase. */
bool stream_pending_is_chased(const struct stream_pending *p,
    const uint8_t *message, size_t length);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that wait in a thread's queue for answers of upstreams: each is held
 * (held.h), asked at its user's turn (nfq/ask/users.h) by the thread's forwarder
 * (nfq/upstream/forwarder.h), and the answer turns it round.
 */
#ifndef NFDNS_NFQ_HELD_HOLDER_H
#define NFDNS_NFQ_HELD_HOLDER_H

#include "nfq/ask/users.h"
#include "nfq/held/held.h"
#include "nfq/packet/intercept.h"
#include "nfq/thread/answering_thread.h"
#include "nfq/thread/thread_queue.h"
#include "nfq/upstream/forwarder.h"

struct holder_options {
	struct answering_thread *thread;	/* borrowed, as the queue */
	struct thread_queue *queue;
	uint16_t queue_number;		/* in audit records */
	uint32_t most;			/* questions at a time */
	uint32_t mark_mask, mark_answered, mark_back;
};

struct holder {
	struct holder_options options;
	struct forwarder *forwarder;
	struct held_table table;
	struct turns turns;
	struct users users;		/* of what is held */
	bool ending;			/* what is held stays in the queue */
	unsigned int round;		/* ends with holder_ask() */
	struct interception judged;
	uint8_t reply[QUEUE_REPLY_MAX];
};

/*
 * With a forwarder, which opens sockets with mark_relay; queue_fd is the queue's
 * socket.  0 and *holder, or a negative errno.
 */
int holder_new(struct holder **holder, const struct holder_options *options,
    int queue_fd, uint32_t mark_relay) __attribute__((warn_unused_result));

/* What is held stays in the queue.  NULL is allowed. */
void holder_free(struct holder *holder);

/* Whether nothing waits and nothing is awaited: the queue alone can be waited for. */
bool holder_is_idle(const struct holder *holder);

/* forwarder_wait(), but no longer than until the next turn. */
int holder_wait(struct holder *holder,
    struct epoll_event events[static FORWARDER_EVENTS]);

/*
 * Holds a packet that is to be forwarded; its question is asked at its turn.  absent:
 * the cache was asked for it, and has nothing.  False:
 * too many are held, of all or of its user, or it is too long.
 */
bool holder_hold(struct holder *holder, const struct queue_packet *packet,
    struct interception *interception, bool absent);

/* Asks at most so many of those that are held. */
void holder_ask(struct holder *holder, unsigned int most);

#endif

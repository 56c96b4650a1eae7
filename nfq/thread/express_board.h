/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the forwarding thread and queue threads give each other for questions that
 * a queue thread asks by itself (nfq/forward/express.h): those that the forwarding
 * thread is to go on with.
 */
#ifndef NFDNS_NFQ_THREAD_EXPRESS_BOARD_H
#define NFDNS_NFQ_THREAD_EXPRESS_BOARD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "policy/config/config.h"
#include "policy/config/forward_settings.h"
#include "resolver/clock.h"

#define EXPRESS_BEGUN		1024	/* on their way to the forwarding thread */
#define BEGUN_REPLY_MAX		1232	/* as the question asked for; at most 2 MiB in all */

/*
 * A question that a queue thread has asked and gives away: its packet comes by the
 * second queue.
 */
struct begun_question {
	STAILQ_ENTRY(begun_question) link;
	uint64_t generation;		/* of the settings that have: */
	uint32_t upstream;		/* index; it was asked over UDP, */
	uint16_t id;			/* with this id, */
	monotime_t sent;		/* at this time of CLOCK_BOOTTIME, */
	int fd;				/* by this connected socket; -1: none */
	int error;			/* which has failed; positive; 0: it has not */
	size_t length;			/* octets of the packet */
	size_t reply_length;		/* and of what came for it; 0: nothing has */
	uint8_t octets[];		/* the packet, behind it the reply */
};

STAILQ_HEAD(begun_list, begun_question);

struct express_board {
	pthread_mutex_t lock;		/* of: */
	struct begun_list begun;	/* the oldest first */
	_Atomic unsigned int begun_count;
};

/* NULL without memory. */
struct express_board *express_board_new(void);

/* Closes and frees what nobody has taken, too.  NULL is allowed. */
void express_board_free(struct express_board *board);

/*
 * A copy of the packet and of the reply.  NULL without memory, and for a longer reply
 * than BEGUN_REPLY_MAX, which only a faulty or hostile server sends: the packet goes
 * without it then, and the question is asked anew.
 */
struct begun_question *begun_new(const uint8_t *packet, size_t length,
    const uint8_t *reply, size_t reply_length);

/* Closes its socket if it still has one.  NULL is allowed. */
void begun_free(struct begun_question *begun);

/*
 * A queue thread gives one away, before the packet's verdict.  The oldest is freed
 * if there are too many: its packet was dropped on its way.
 */
void express_board_give(struct express_board *board,
    struct begun_question *begun);

/* The forwarding thread takes the one of that packet; NULL: there is none. */
struct begun_question *express_board_take(struct express_board *board,
    const uint8_t *packet, size_t length);

/* Frees those that were sent before that time: their packets are gone. */
void express_board_age(struct express_board *board, monotime_t before);

#endif

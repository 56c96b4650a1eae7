/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What queue threads and the forwarding thread tell each other about questions that
 * a queue thread asks by itself (nfq/forward/express.h): whom it may ask, what has
 * come of it, and questions that the forwarding thread is to go on with.
 *
 * Offers and counts are single words without a lock: each has one writer, and who
 * reads an old one only asks in the other way, or counts it a moment later.
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

#define EXPRESS_STOCK		16	/* sockets for a queue thread */
#define EXPRESS_BEGUN		1024	/* on their way to the forwarding thread */
#define BEGUN_REPLY_MAX		1232	/* as the question asked for; at most 2 MiB in all */

/* Of one queue thread; all only grow, but for "under_way". */
struct express_counts {
	_Atomic uint32_t under_way;	/* questions, now */
	_Atomic uint64_t changes;	/* of any of those below */
	struct {
		_Atomic uint64_t sent, replies;
		_Atomic uint64_t last;	/* reply: express_board_reply() */
	} upstream[FORWARD_UPSTREAMS];
	_Atomic uint64_t answered[FORWARD_DOMAINS];	/* questions */
};

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
	_Atomic uint64_t offers[FORWARD_DOMAINS];
	/* Of nfdns-sockets, connected to an upstream: an offer and the socket. */
	_Atomic uint64_t stock[CONFIG_MAX_WORKERS][EXPRESS_STOCK];
	_Atomic int wake;		/* eventfd of the forwarding thread; -1: none */
	struct express_counts counts[CONFIG_MAX_WORKERS];	/* by queue */
	pthread_mutex_t lock;		/* of: */
	struct begun_list begun;	/* the oldest first */
	_Atomic unsigned int begun_count;
};

/* Without offers; NULL without memory. */
struct express_board *express_board_new(void);

/* Closes and frees what nobody has taken, too.  NULL is allowed. */
void express_board_free(struct express_board *board);

/*
 * The forwarding thread: from now on this upstream is asked for that domain, both
 * by their index in the settings of that generation; a negative one: none is.
 */
void express_board_offer(struct express_board *board, uint32_t domain,
    uint64_t generation, int upstream);

/* A queue thread: the upstream it may ask; -1: the forwarding thread has to. */
int express_board_offered(const struct express_board *board, uint32_t domain,
    uint64_t generation);

/*
 * Where nfdns-sockets opens sockets, the forwarding thread lays some ready for each
 * queue thread, each for one question, or for several while many are under way.
 * False: that place is taken.
 */
bool express_board_lay(struct express_board *board, unsigned int queue,
    unsigned int place, uint64_t generation, unsigned int upstream, int fd);

/* Whether a place holds one for that upstream; -1: for any. */
bool express_board_holds(const struct express_board *board,
    unsigned int queue, unsigned int place, uint64_t generation, int upstream);

/* Takes the socket of a place away; -1: there is none. */
int express_board_clear(struct express_board *board, unsigned int queue,
    unsigned int place);

/*
 * A queue thread takes one that is connected to the upstream; -1: there is none.
 * Wakes the forwarding thread when few are left.
 */
int express_board_socket(struct express_board *board, unsigned int queue,
    uint64_t generation, unsigned int upstream);

/*
 * What is kept of the last reply: how long it took, and which generation's settings
 * have the upstream.
 */
uint64_t express_board_reply(uint64_t generation, int64_t us);

/* How long, in microseconds, 1 at least; 0: it is of another generation. */
uint32_t express_board_reply_us(uint64_t reply, uint64_t generation);

/* So many questions are under way by queue threads. */
uint32_t express_board_under_way(const struct express_board *board);

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

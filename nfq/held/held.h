/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions whose packets wait in the queue for answers: a copy of each packet,
 * for the headers of the answer, and of the chain of CNAMEs that is followed.
 */
#ifndef NFDNS_NFQ_HELD_HELD_H
#define NFDNS_NFQ_HELD_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "nfq/packet/intercept.h"
#include "nfq/queue/message.h"
#include "nfq/thread/answering_thread.h"
#include "nfq/ask/engine.h"
#include "resolver/answer/chase.h"

/*
 * A question whose packet waits in the queue for its answer: what the answer and
 * the audit record need.
 */

struct held_packet {
	uint32_t id;
	uint32_t mark;
	uint32_t device;		/* struct asker */
	bool guest;
	uid_t uid;
	gid_t gid;
	uint64_t received_ns;
	struct decision decision;
	struct policy_note note;
	struct packet packet;		/* of a copy of the octets */
};

/*
 * Copies a packet to "octets", which have room for it and stay as long as *held,
 * and with it what is known of it.  The interception is of that packet, and its
 * form PACKET_OK.
 */
void held_packet_keep(struct held_packet *held, const struct queue_packet *p,
    const struct interception *i, uint64_t received_ns, uint8_t *octets);

/*
 * Records what was decided, if anybody wants it.  queue: its number.  answer: the
 * DNS message; length 0: there is none.
 */
void held_packet_record(const struct held_packet *held,
    struct answering_thread *thread, uint16_t queue, const uint8_t *answer,
    size_t length);

/*
 * Before the client of a held packet gets an answer that others gave: the rules judge
 * the answer's names, for this asker.  "known" of its records are the table's, and
 * were judged.  False: the answer is the client's.  True: it is not; i has the
 * decision and the reply, if there is one, and *held what to record.  i is of no
 * other use meanwhile; the octets may lie in "reply".
 */
bool held_packet_deny(struct held_packet *held,
    const struct answering_thread *thread, struct interception *i,
    const struct policy_answer *answer,
    uint8_t reply[static INTERCEPT_REPLY_MAX]);

/*
 * What a record says of any packet that intercept_parse() was given and whose
 * family is known.  Borrows it.
 */
void held_packet_describe(struct audit_record *record,
    const struct packet *packet);

#define HELD_PACKET_MAX	2048
#define HELD_CHAIN_MAX	2048

struct held {
	struct engine_client client;	/* first: a client is its held question */
	struct held_packet held;	/* of octets[] */
	struct chase chase;		/* of chain[], if it is followed, */
	struct engine_end end;		/* for its end */
	unsigned int round;		/* of the holder, in which it came */
	SLIST_ENTRY(held) entry;	/* of the free ones */
	STAILQ_ENTRY(held) turn;	/* of those that were not asked yet */
	uint8_t octets[HELD_PACKET_MAX];
	uint8_t chain[HELD_CHAIN_MAX];
};

SLIST_HEAD(held_list, held);

struct held_table {
	struct held *all;
	struct held_list free;		/* those of the first "most" */
	uint32_t count;			/* in use */
	uint32_t most, max;		/* that were ever in use, and may be */
};

/* For so many questions; memory is touched as they come.  0 or -ENOMEM. */
int held_open(struct held_table *table, uint32_t max)
    __attribute__((warn_unused_result));
void held_close(struct held_table *table);

/*
 * Takes a free place for a packet of that length, for held_packet_keep(); NULL:
 * there is none, or the packet is longer than HELD_PACKET_MAX.
 */
struct held *held_take(struct held_table *table, size_t length);
void held_give(struct held_table *table, struct held *held);

static inline struct held *
held_of(struct engine_client *client)
{
	return (struct held *)client;
}

/*
 * Whose question is asked next, of those that a thread holds: users take turns, so
 * that one user's flood stands before nobody else's questions.  Each turn is one
 * question, the oldest of that user.
 *
 * Users share turns by a keyed hash, as in stochastic fairness queueing.
 */

#define TURNS	1024

struct turn {
	STAILQ_HEAD(, held) waiting;	/* the oldest first */
	TAILQ_ENTRY(turn) entry;	/* if there are any */
};

struct turns {
	uint64_t seed;			/* unpredictable */
	TAILQ_HEAD(, turn) due;		/* the next one first */
	struct turn turns[TURNS];
};

void turns_init(struct turns *turns, uint64_t seed);

/* It waits, by its held.uid. */
void turns_add(struct turns *turns, struct held *held);

/* The next one, which waits no more; its user's next comes behind the other
 * users'.  NULL: none waits. */
struct held *turns_take(struct turns *turns);

static inline bool
turns_are_over(const struct turns *turns)
{
	return TAILQ_EMPTY(&turns->due);
}

#endif

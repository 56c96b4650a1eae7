/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions that one thread has another ask: those of TCP clients that the
 * forwarding thread asks upstreams, since it has the cache and knows which of
 * them work.  An errand belongs to one thread at a time; the lists between the two
 * have a lock, which both hold for moments only.
 *
 * The runner takes those of each user in turn.  From being sent until it is taken
 * back or freed, an errand counts as a waiting question of its user (waiting.h),
 * as several if it is long, also while nobody waits for it any more: a sender that
 * asks waiting_is_full() before keeps each user to his share of their memory.
 */
#ifndef NFDNS_NFQ_THREAD_ERRANDS_H
#define NFDNS_NFQ_THREAD_ERRANDS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "nfq/queue/queue_packet.h"
#include "nfq/thread/waiting.h"
#include "policy/decide.h"
#include "policy/match/policy_gather.h"
#include "resolver/answer/chase.h"

#define ERRAND_OCTETS	1024	/* of a question; more count as another one */
#define ERRAND_TURNS	256	/* users share turns by a keyed hash */

enum errand_end {
	ERRAND_FAILED,		/* nobody can be asked any more */
	ERRAND_ANSWERED,
	ERRAND_PASSED,		/* the nameserver is to be asked, by the sender */
};

struct errand {
	STAILQ_ENTRY(errand) link;	/* in a list between the threads */
	LIST_ENTRY(errand) in_sender;	/* the sender's own */
	void *of;			/* the sender's own; NULL: nobody waits */
	uid_t uid;
	/* The nameserver that the client addressed; IPv4: the first four octets. */
	uint16_t family;
	uint8_t address[16];
	uint32_t scope;
	enum errand_end end;
	uint8_t *answer;		/* if it is answered: a DNS message, */
	size_t answer_length;
	uint16_t options;		/* octets of options in the OPT that ends it */
	/* The chain whose end is asked for, in octets[], too; of length 0: none. */
	struct chase chase;
	/* The sender's, for the record of the answer. */
	uint16_t chain_options;		/* as "options", of the chain alone */
	struct decision decision;
	struct policy_note note;
	uint64_t received_ns;
	size_t length;
	uint8_t octets[];		/* the question, a DNS message */
};

STAILQ_HEAD(errand_list, errand);

/* Users' errands that wait to be run; one is taken, then others have their turn. */
struct errand_turn {
	STAILQ_ENTRY(errand_turn) link;	/* if there are any */
	struct errand_list errands;
};

struct errands {
	pthread_mutex_t lock;
	struct waiting *waiting;	/* borrowed: counts them */
	struct errand_turn turns[ERRAND_TURNS];
	STAILQ_HEAD(, errand_turn) there;
	struct errand_list back;
	int runner, sender;		/* eventfds to wake them by; -1: no such */
};

/*
 * Without a runner and a sender; never fails.  "waiting" is borrowed; who runs
 * errands has called waiting_init() before.
 */
void errands_init(struct errands *errands, struct waiting *waiting);

/*
 * A copy of the question, and of the chain unless that is NULL; it belongs to the
 * caller.  NULL without memory.
 */
struct errand *errand_new(const uint8_t *octets, size_t length,
    const struct chase *chase);
void errand_free(struct errand *errand);

/* What it keeps of its client's. */
static inline size_t
errand_octets(const struct errand *errand)
{
	return errand->length + errand->chase.length;
}

/* The threads' eventfds, which they close after the "leave". */
void errands_run_by(struct errands *errands, int wake);
void errands_sent_by(struct errands *errands, int wake);

/* The runner ends: what has not been begun goes back, failed. */
void errands_runner_leaves(struct errands *errands);
/* The sender ends: what is in the lists is freed, and what comes back later. */
void errands_sender_leaves(struct errands *errands);

/* The sender gives one away.  False: it keeps it, nobody runs it. */
bool errands_send(struct errands *errands, struct errand *errand);
/* The runner takes the next one; NULL: there is none. */
struct errand *errands_next(struct errands *errands);
/* The runner gives one back that it has taken. */
void errands_return(struct errands *errands, struct errand *errand);

/*
 * The sender takes all that have come back; "list" is empty before.  What it sends
 * meanwhile comes back later, however fast: it gets on with other things.
 */
void errands_back(struct errands *errands, struct errand_list *list);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions that a queue thread asks by itself, in the usual case: one upstream is
 * asked once over UDP, and its reply is the answer.  The packet stays in the thread's
 * own queue meanwhile, so no other thread has to wake: that is a quarter of the time
 * that a forwarded question takes (tests/bench/bench --only forward).
 *
 * They are held first, and sent a few at a time, by turns of their users: the thread
 * looks at its queue in between, since a name of the mesh takes it a tenth of the time
 * and is not to wait.
 *
 * All else is the forwarding thread's; both look at the same table of what is known of
 * upstreams (upstream_simple()).  What turns out not to be the usual case is
 * given to it as it stands, with the socket and the reply: nobody is asked again.
 *
 * Where a domain has a cache, only what is not in it is asked here, and the answer is
 * there before the client has it.
 *
 * At most one datagram is read for each question here, and for EXPRESS_WAIT_MS at
 * most: an upstream that is slow, dead or hostile costs the thread no more.  If it is a
 * reply to something else, the upstream's questions are the forwarding thread's for a
 * while: it counts such replies, and here each question would be one more guess.
 *
 * One thread uses all of this.
 */
#ifndef NFDNS_NFQ_FORWARD_EXPRESS_H
#define NFDNS_NFQ_FORWARD_EXPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nfq/ask/client_message.h"
#include "nfq/forward/express_sockets.h"
#include "nfq/held/held_packet.h"
#include "nfq/ask/message.h"
#include "nfq/packet/intercept.h"
#include "nfq/queue/queue.h"
#include "nfq/thread/express_board.h"
#include "policy/config/forward_settings.h"
#include "resolver/clock.h"

#define EXPRESS_QUESTIONS	1024	/* under way at a time, at most */
#define EXPRESS_OCTETS		512	/* of a packet, at most */
#define EXPRESS_WAIT_MS		30
#define EXPRESS_BATCH		32	/* attempts with replies, at a time */

/* A question whose packet is held. */
struct express_question {
	struct held_packet held;	/* of octets[] */
	monotime_t since;		/* when its batch was read */
	struct question question;	/* of that packet */
	STAILQ_ENTRY(express_question) entry;	/* of its attempt, or free */
	size_t length;
	uint8_t octets[EXPRESS_OCTETS];
};

STAILQ_HEAD(express_questions, express_question);

enum express_state {
	EXPRESS_IDLE,
	EXPRESS_WAITING,		/* for its turn */
	EXPRESS_SENT,
};

/* A message to an upstream, and all who wait for its reply: equal questions. */
struct express_attempt {
	enum express_state state;
	struct express_turn *turn;	/* it waits for; NULL: for none */
	struct express_socket *socket;	/* NULL: none */
	uint16_t id;
	bool kept;			/* by the cache, if it may be */
	uint32_t slot;			/* of the upstream, whose other names are */
	uint32_t domain, upstream;	/* indices in the settings of: */
	uint64_t generation;
	monotime_t sent;		/* CLOCK_BOOTTIME */
	struct express_questions questions;	/* the first was sent */
	LIST_ENTRY(express_attempt) equal;	/* by hash */
	TAILQ_ENTRY(express_attempt) entry;	/* of its turn, or of those in its state */
};

struct cache;
struct express;
struct express_turn;
struct upstreams;

/* What a thread that begins has. */
struct express_options {
	struct express_board *board;	/* borrowed */
	struct upstreams *upstreams;	/* borrowed */
	_Atomic uint64_t *held;		/* borrowed: shows how many are held */
	int queue;			/* its queue's socket: borrowed */
	uint32_t mark;			/* of sockets that it opens; 0: none */
	unsigned int most;		/* questions that are held at a time */
};

/* 0 and *express, or a negative errno. */
int express_new(struct express **express, const struct express_options *options)
    __attribute__((warn_unused_result));

/* Closes all; what is held stays in the queue.  NULL is allowed. */
void express_free(struct express *express);

/* Whether nothing is held. */
bool express_is_idle(const struct express *express);

/* A question that is to be forwarded.  Borrows all. */
struct express_ask {
	const struct queue_packet *packet;
	const struct interception *interception;
	const struct forward_settings *settings;	/* of this batch */
	uint64_t generation;		/* their number */
	bool caches;			/* there is a cache, and */
	struct cache *cache;		/* this is it; NULL: not at this moment */
	uint64_t received_ns;
	monotime_t now;			/* CLOCK_MONOTONIC, of this batch */
};

/* The upstream that it may be asked of; NULL: the forwarding thread has to ask. */
const struct forward_upstream *express_upstream(struct express *express,
    const struct express_ask *ask);

enum express_begun {
	EXPRESS_NOT,			/* it could not be: nothing has happened */
	EXPRESS_HELD,
	EXPRESS_JOINED,			/* an equal one is under way */
};

/* Holds the packet; that one is asked when it is its turn, by express_send(). */
enum express_begun express_begin(struct express *express,
    const struct forward_upstream *upstream, const struct express_ask *ask)
    __attribute__((warn_unused_result));

/* The attempt that is to be sent next, or NULL. */
struct express_attempt *express_next(struct express *express);

/*
 * Sends it.  0, or a negative errno: nobody was asked.  Its questions' packets are to
 * be handed over then, and it is to be ended.
 */
int express_send(struct express *express, struct express_attempt *attempt,
    const struct forward_settings *settings, uint64_t generation)
    __attribute__((warn_unused_result));

/*
 * Waits until the queue can be read (*queued), attempts have something to be read, or
 * one is late; not at all while something is to be sent.  Returns how many attempts
 * have; each lives until it is ended.
 */
size_t express_wait(struct express *express, bool *queued,
    struct express_attempt *ready[static EXPRESS_BATCH]);

/* One that had waited for too long when express_wait() returned, or NULL. */
struct express_attempt *express_late(struct express *express);

/* Any that is under way, or NULL. */
struct express_attempt *express_first(struct express *express);

/* What has come for an attempt. */
struct express_reply {
	const uint8_t *octets;
	size_t length;
	int error;			/* positive; 0: there is a reply */
	bool is_answer;			/* then there are, too: */
	struct message message;
	struct message_ttl ttl;		/* for clients */
};

/*
 * Reads it.  False: nothing has come.  What is read lives until the next call.
 */
bool express_receive(struct express *express, struct express_attempt *attempt,
    const struct forward_settings *settings, struct express_reply *reply);

/*
 * Before anybody gets an answer: the cache gets it, if the domain has one and it may
 * be kept, and the TTLs are bounded as the cache's are.  NULL: it is not to be
 * written at this moment.
 */
void express_keep(const struct express *express,
    const struct express_attempt *attempt, struct cache *cache,
    const struct forward_settings *settings, uint64_t generation,
    struct express_reply *reply);

/* The DNS message in a packet. */
struct express_answer {
	const uint8_t *octets;
	size_t length;
};

/*
 * Writes the packet that answers one of the attempt's questions, which takes
 * QUEUE_REPLY_MAX at most, and returns its length.
 */
size_t express_answer(const struct forward_settings *settings,
    const struct express_question *question, const struct express_reply *reply,
    uint8_t octets[static QUEUE_REPLY_MAX], struct express_answer *answer);

/* All of its questions are answered: it is ended, and its time is noted. */
void express_answered(struct express *express, struct express_attempt *attempt);

/*
 * Gives the attempt to the forwarding thread, with what has come for it, or NULL.
 * Its questions' packets are to be handed over; then it is ended.
 */
void express_give(struct express *express, struct express_attempt *attempt,
    const struct express_reply *reply);
void express_end(struct express *express, struct express_attempt *attempt);

/* Closes idle sockets, every ten seconds. */
void express_age(struct express *express, monotime_t now);

#endif

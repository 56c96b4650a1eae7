/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A queue thread's own questions (express.h), for their files only: express.c has
 * whom to ask, what is held and how it ends, express_replies.c what comes for it.
 */
#ifndef NFDNS_NFQ_FORWARD_EXPRESS_STATE_H
#define NFDNS_NFQ_FORWARD_EXPRESS_STATE_H

#include "nfq/forward/express.h"
#include "nfq/forward/express_turns.h"
#include "nfq/ask/upstream.h"

#define EXPRESS_LISTS		256
#define EXPRESS_DATAGRAM_MAX	65535

LIST_HEAD(express_equal, express_attempt);

struct express {
	struct express_board *board;
	struct upstreams *upstreams;
	_Atomic uint64_t *held;
	unsigned int most;
	int epoll;
	uint64_t seed;
	monotime_t boot;		/* when express_wait() last returned */
	unsigned int under_way;		/* questions */
	monotime_t doubted[FORWARD_UPSTREAMS];	/* until then it is not asked */
	unsigned int attempts_used, questions_used;	/* ever, of: */
	struct express_attempt attempts[EXPRESS_QUESTIONS];
	struct express_question questions[EXPRESS_QUESTIONS];
	struct express_turns turns;	/* of those to be sent */
	struct express_attempts sent;	/* the oldest first */
	struct express_attempts idle;	/* the last used first */
	struct express_sockets sockets;
	struct express_questions free;
	struct express_equal equal[EXPRESS_LISTS];
	size_t random_left;
	uint8_t random[1024];
	uint8_t datagram[EXPRESS_DATAGRAM_MAX];
};

#endif

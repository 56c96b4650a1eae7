/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sending messages to upstreams, and what their fate says of the upstream. */
#ifndef NFDNS_NFQ_ASK_ATTEMPTS_H
#define NFDNS_NFQ_ASK_ATTEMPTS_H

#include "nfq/ask/engine_state.h"

/*
 * Asks the server at that place of a pending question's order.  False if nothing
 * could be sent.
 */
bool attempt_ask(struct engine *e, monotime_t now, struct pending *p,
    uint32_t place);

/* A question of ours to an upstream; it is lost after wait_ms. */
bool attempt_own(struct engine *e, monotime_t now, enum attempt_kind kind,
    uint32_t upstream, const struct question *question, uint32_t of,
    uint32_t wait_ms);

/* Nothing is awaited from it any more. */
void attempt_end(struct engine *e, struct attempt *a);

/* Ends all of a pending question; those that are not late go on as MEASURE. */
void attempts_end(struct engine *e, struct pending *p);

/* Ends all that belong to no question. */
void attempts_end_own(struct engine *e);

/* It was answered, after the time since it was sent. */
void attempt_replied(struct engine *e, monotime_t now,
    const struct attempt *a);

/* It was lost: no reply in its time (0), or the network's error, positive. */
void attempt_lost(struct engine *e, monotime_t now, struct attempt *a,
    int error);

/* It was not sent, which says nothing of the server, and is ended. */
void attempt_unsent(struct engine *e, monotime_t now, struct attempt *a,
    int error);

/* Marks an id as used, or no longer, on the streams to an upstream. */
void attempt_flip_id(struct engine *e, uint32_t upstream, uint16_t id);

/* The number's attempt, or NULL if there is none. */
struct attempt *attempt_of(struct engine *e, uint32_t number);

#endif

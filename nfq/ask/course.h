/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The course of a pending question, from its first attempt to its end. */
#ifndef NFDNS_NFQ_ASK_COURSE_H
#define NFDNS_NFQ_ASK_COURSE_H

#include "nfq/ask/engine_state.h"

/*
 * Begins: its first attempt is sent.  A question without a server that can be
 * asked ends at once.
 */
void course_begin(struct engine *e, monotime_t now, struct pending *p);

/* A reply to one of its attempts. */
void course_reply(struct engine *e, monotime_t now, struct attempt *a,
    const uint8_t *octets, size_t length);

/* One of its attempts failed; "error" is positive. */
void course_error(struct engine *e, monotime_t now, struct attempt *a,
    int error);

/* One of its attempts was not sent; "error" is positive. */
void course_unsent(struct engine *e, monotime_t now, struct attempt *a,
    int error);

/* One of its attempts is late: it stays open, and another may begin. */
void course_late(struct engine *e, monotime_t now, struct attempt *a);

/* The question's own timer: a stale answer, or its end. */
void course_timer(struct engine *e, monotime_t now, struct pending *p);

/* Ends a question without clients. */
void course_end(struct engine *e, struct pending *p);

/*
 * A client that joins has a stale answer in the cache, which it gets after the
 * usual wait, unless an earlier client's wait ends before that.
 */
void course_join_stale(struct engine *e, monotime_t now, struct pending *p);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions for upstreams over TLS: each waits for a connection, or was sent by
 * one.  A copy of its message is kept, so that it can be sent again.
 */
#ifndef NFDNS_NFQ_FORWARD_TLS_QUESTIONS_H
#define NFDNS_NFQ_FORWARD_TLS_QUESTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nfq/forward/upstream_sockets.h"

#define TLS_QUESTION_LISTS 1024

TAILQ_HEAD(tls_question_list, tls_question);

struct tls_question {
	uint32_t attempt;
	struct asking cause;
	uint16_t id;
	uint32_t connection;		/* that it was sent by; 0: none */
	bool answered;			/* something with its id has come */
	unsigned int again;		/* times that it was sent once more */
	int error;			/* of those that failed; negative */
	TAILQ_ENTRY(tls_question) by_attempt;
	TAILQ_ENTRY(tls_question) by_id;	/* while it is sent */
	struct tls_question_list *in;	/* of its upstream, or those that failed */
	TAILQ_ENTRY(tls_question) entry;	/* of that */
	size_t length;
	uint8_t octets[];
};

/* Where they are found. */
struct tls_questions {
	struct tls_question_list by_attempt[TLS_QUESTION_LISTS];
	struct tls_question_list by_id[TLS_QUESTION_LISTS];
};

void tls_questions_init(struct tls_questions *all);

/* A copy of a message of at least two octets, in no list.  NULL: no memory. */
struct tls_question *tls_question_new(struct tls_questions *all,
    uint32_t attempt, const struct asking *cause, const uint8_t *octets,
    size_t length);

/* Puts it at the end of a list, out of the one that it is in. */
void tls_question_move(struct tls_question *q, struct tls_question_list *to);

void tls_question_free(struct tls_questions *all, struct tls_question *q);

/* NULL: there is none. */
struct tls_question *tls_question_of(struct tls_questions *all,
    uint32_t attempt);
struct tls_question *tls_question_by_id(struct tls_questions *all,
    uint32_t connection, uint16_t id);

/* It was sent by that connection; 0: not any more. */
void tls_question_sent(struct tls_questions *all, struct tls_question *q,
    uint32_t connection);

#endif

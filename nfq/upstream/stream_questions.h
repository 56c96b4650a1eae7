/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions for upstreams that are asked by streams: each waits for a connection,
 * or was sent by one.  A copy of its message is kept, so that it can be sent again.
 */
#ifndef NFDNS_NFQ_UPSTREAM_STREAM_QUESTIONS_H
#define NFDNS_NFQ_UPSTREAM_STREAM_QUESTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>


#define STREAM_QUESTION_LISTS 1024

TAILQ_HEAD(stream_question_list, stream_question);

struct stream_question {
	uint32_t attempt;
	uint16_t id;
	uint32_t connection;		/* that it was sent by; 0: none */
	bool answered;			/* something with its id has come */
	unsigned int again;		/* times that it was sent once more */
	int error;			/* of those that failed; negative */
	TAILQ_ENTRY(stream_question) by_attempt;
	TAILQ_ENTRY(stream_question) by_id;	/* while it is sent */
	struct stream_question_list *in;	/* of an upstream or connection, or of
					   those that failed */
	TAILQ_ENTRY(stream_question) entry;	/* of that */
	size_t length;
	uint8_t octets[];
};

/* What came of an attempt. */
struct stream_reply {
	uint32_t attempt;
	const struct forward_upstream *from;	/* of an answer; as octets: */
	const uint8_t *octets;		/* borrowed until the next call */
	size_t length;
	int error;			/* negative: it failed; else an answer */
};

/* Where they are found. */
struct stream_questions {
	struct stream_question_list by_attempt[STREAM_QUESTION_LISTS];
	struct stream_question_list by_id[STREAM_QUESTION_LISTS];
	struct stream_question_list failed;
};

void stream_questions_init(struct stream_questions *all);

/* A copy of a message of at least two octets, in no list.  NULL: no memory. */
struct stream_question *stream_question_new(struct stream_questions *all,
    uint32_t attempt, const uint8_t *octets, size_t length);

/* Puts it at the end of a list, out of the one that it is in. */
void stream_question_move(struct stream_question *q,
    struct stream_question_list *to);

void stream_question_free(struct stream_questions *all,
    struct stream_question *q);

/* NULL: there is none. */
struct stream_question *stream_question_of(struct stream_questions *all,
    uint32_t attempt);
struct stream_question *stream_question_by_id(struct stream_questions *all,
    uint32_t connection, uint16_t id);

/* It was sent by that connection; 0: not any more. */
void stream_question_sent(struct stream_questions *all,
    struct stream_question *q, uint32_t connection);

/* It failed, for a negative errno, and is not sent any more. */
void stream_question_fail(struct stream_questions *all,
    struct stream_question *q, int error);

/* Frees one that failed, and says which it was; false: there is none. */
bool stream_questions_failed(struct stream_questions *all,
    struct stream_reply *reply);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/upstream/tcp_upstreams.h"

#include <stdlib.h>
#include <string.h>

#include "resolver/dns/wire.h"

static struct stream_question_list *
attempt_list(struct stream_questions *all, uint32_t attempt)
{
	return &all->by_attempt[attempt % STREAM_QUESTION_LISTS];
}

/* Ids are random, and not the other side's to choose. */
static struct stream_question_list *
id_list(struct stream_questions *all, uint32_t connection, uint16_t id)
{
	return &all->by_id[(connection + id) % STREAM_QUESTION_LISTS];
}

void
stream_questions_init(struct stream_questions *all)
{
	for (size_t i = 0; i < STREAM_QUESTION_LISTS; i++) {
		TAILQ_INIT(&all->by_attempt[i]);
		TAILQ_INIT(&all->by_id[i]);
	}
	TAILQ_INIT(&all->failed);
}

struct stream_question *
stream_question_new(struct stream_questions *all, uint32_t attempt,
    const uint8_t *octets, size_t length)
{
	struct stream_question *q = calloc(1, sizeof(*q) + length);

	if (q == NULL)
		return NULL;
	q->attempt = attempt;
	q->id = wire_load_u16(octets);
	q->length = length;
	memcpy(q->octets, octets, length);
	TAILQ_INSERT_TAIL(attempt_list(all, attempt), q, by_attempt);
	return q;
}

void
stream_question_move(struct stream_question *q, struct stream_question_list *to)
{
	if (q->in != NULL)
		TAILQ_REMOVE(q->in, q, entry);
	q->in = to;
	if (to != NULL)
		TAILQ_INSERT_TAIL(to, q, entry);
}

void
stream_question_free(struct stream_questions *all, struct stream_question *q)
{
	stream_question_move(q, NULL);
	stream_question_sent(all, q, 0);
	TAILQ_REMOVE(attempt_list(all, q->attempt), q, by_attempt);
	free(q);
}

struct stream_question *
stream_question_of(struct stream_questions *all, uint32_t attempt)
{
	struct stream_question *q;

	TAILQ_FOREACH(q, attempt_list(all, attempt), by_attempt)
		if (q->attempt == attempt)
			return q;
	return NULL;
}

struct stream_question *
stream_question_by_id(struct stream_questions *all, uint32_t connection,
    uint16_t id)
{
	struct stream_question *q;

	TAILQ_FOREACH(q, id_list(all, connection, id), by_id)
		if (q->connection == connection && q->id == id)
			return q;
	return NULL;
}

void
stream_question_sent(struct stream_questions *all, struct stream_question *q,
    uint32_t connection)
{
	if (q->connection != 0)
		TAILQ_REMOVE(id_list(all, q->connection, q->id), q, by_id);
	q->connection = connection;
	if (connection != 0)
		TAILQ_INSERT_TAIL(id_list(all, connection, q->id), q, by_id);
}

void
stream_question_fail(struct stream_questions *all, struct stream_question *q,
    int error)
{
	stream_question_sent(all, q, 0);
	q->error = error;
	stream_question_move(q, &all->failed);
}

bool
stream_questions_failed(struct stream_questions *all,
    struct stream_reply *reply)
{
	struct stream_question *q = TAILQ_FIRST(&all->failed);

	if (q == NULL)
		return false;
	*reply = (struct stream_reply){ .attempt = q->attempt,
		.error = q->error };
	stream_question_free(all, q);
	return true;
}

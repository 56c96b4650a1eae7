/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/upstream/tcp_state.h"
#include "resolver/dns/wire.h"
#include "nfq/upstream/tcp_upstreams.h"

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

#define OUT_FIRST	4096		/* octets */

/* Octets of the frame that has begun, as far as that is known. */
static size_t
wanted(const struct frames_in *in)
{
	return in->used < FRAMES_LENGTH ? FRAMES_LENGTH :
	    FRAMES_LENGTH + (size_t)wire_load_u16(in->octets);
}

uint8_t *
frames_in_room(struct frames_in *in, size_t *room)
{
	if (in->octets == NULL)
		in->octets = calloc(1, FRAMES_IN_MAX);
	if (in->octets == NULL)
		return NULL;
	if (in->used >= FRAMES_LENGTH && in->used == wanted(in))
		in->used = 0;		/* that message was taken */
	*room = wanted(in) - in->used;
	return in->octets + in->used;
}

ssize_t
frames_in_took(struct frames_in *in, size_t count, const uint8_t **message)
{
	in->used += count;
	if (in->used < FRAMES_LENGTH)
		return 0;
	if (wanted(in) < FRAMES_LENGTH + FRAMES_LEAST)
		return -EPROTO;
	if (in->used < wanted(in))
		return 0;
	*message = in->octets + FRAMES_LENGTH;
	return (ssize_t)(in->used - FRAMES_LENGTH);
}

void
frames_in_free(struct frames_in *in)
{
	free(in->octets);
	*in = (struct frames_in){ .octets = NULL };
}

/* Room for so many more octets behind those that wait. */
static int
make_room(struct frames_out *out, size_t more)
{
	const size_t waits = out->end - out->begin;
	size_t size = out->size == 0 ? OUT_FIRST : out->size;
	uint8_t *octets;

	if (waits + more > FRAMES_OUT_MAX)
		return -ENOBUFS;
	if (out->begin > 0 && waits > 0)
		memmove(out->octets, out->octets + out->begin, waits);
	out->begin = 0;
	out->end = waits;
	while (size < waits + more)
		size *= 2;
	if (size == out->size)
		return 0;
	octets = realloc(out->octets, size);
	if (octets == NULL)
		return -ENOMEM;
	out->octets = octets;
	out->size = size;
	return 0;
}

int
frames_out_put(struct frames_out *out, const uint8_t *message, size_t length)
{
	const size_t more = FRAMES_LENGTH + length;

	if (out->size - out->end < more) {
		const int error = make_room(out, more);

		if (error < 0)
			return error;
	}
	wire_store_u16(out->octets + out->end, (uint16_t)length);
	memcpy(out->octets + out->end + FRAMES_LENGTH, message, length);
	out->end += more;
	return 0;
}

const uint8_t *
frames_out_octets(const struct frames_out *out, size_t *length)
{
	*length = out->end - out->begin;
	return out->octets + out->begin;
}

void
frames_out_sent(struct frames_out *out, size_t count)
{
	out->begin += count;
	if (out->begin == out->end)
		out->begin = out->end = 0;
}

void
frames_out_free(struct frames_out *out)
{
	free(out->octets);
	*out = (struct frames_out){ .octets = NULL };
}

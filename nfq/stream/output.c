/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream/parts.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "nfq/stream/options.h"

#define IDLE_UNITS_PER_S 10	/* of edns-tcp-keepalive: 100 ms */

/* Keeps octets that the socket did not take. */
static enum stream_next
keep(struct stream *s, struct stream_connection *c, const uint8_t *octets,
    size_t length)
{
	if (length == 0)
		return STREAM_GO_ON;
	if (stream_buffer_length(&c->out) == 0)
		c->unread_since = s->thread.now;
	return stream_buffer_put(&c->out, octets, length) < 0 ? STREAM_CLOSE :
	    STREAM_GO_ON;
}

enum stream_next
stream_flush(struct stream *s, struct stream_connection *c)
{
	const size_t length = s->output_used;
	ssize_t n = 0;

	s->output_used = 0;
	if (length == 0)
		return STREAM_GO_ON;
	if (stream_buffer_length(&c->out) == 0)
		n = send(c->client.fd, s->output, length,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return STREAM_CLOSE;
	if (n < 0)
		n = 0;
	return keep(s, c, s->output + n, length - (size_t)n);
}

enum stream_next
stream_send_waiting(struct stream *s, struct stream_connection *c)
{
	ssize_t n = send(c->client.fd, c->out.octets + c->out.start,
	    stream_buffer_length(&c->out), MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? STREAM_GO_ON :
		    STREAM_CLOSE;
	stream_buffer_take(&c->out, (size_t)n);
	/*
	 * An answer has to be read within its time.  A relayed transfer may
	 * take as long as it likes, as long as it goes on.
	 */
	if (stream_buffer_length(&c->out) == 0)
		c->unread_since = MONOTIME_NEVER;
	else if (c->raw && n > 0)
		c->unread_since = s->thread.now;
	return STREAM_GO_ON;
}

enum stream_next
stream_reserve(struct stream *s, struct stream_connection *c, size_t length,
    uint8_t **room)
{
	assert(length <= sizeof(s->output));
	if (sizeof(s->output) - s->output_used < length &&
	    stream_flush(s, c) == STREAM_CLOSE)
		return STREAM_CLOSE;
	*room = s->output + s->output_used;
	return STREAM_GO_ON;
}

enum stream_next
stream_put_message(struct stream *s, struct stream_connection *c,
    const uint8_t *message, size_t length)
{
	uint8_t *room;

	if (stream_reserve(s, c, STREAM_PREFIX + length, &room) ==
	    STREAM_CLOSE)
		return STREAM_CLOSE;
	stream_frame_put(room, length);
	memcpy(room + STREAM_PREFIX, message, length);
	s->output_used += STREAM_PREFIX + length;
	return STREAM_GO_ON;
}

size_t
stream_answer_room(const struct edns *asked)
{
	return asked->present && (asked->keepalive || asked->padding) ?
	    STREAM_MESSAGE_MAX - STREAM_OPTIONS_ROOM : STREAM_MESSAGE_MAX;
}

size_t
stream_put_answer(struct stream *s, uint8_t *room, size_t length,
    const struct edns *asked, enum extended_error error, uint16_t present)
{
	const struct stream_options options = { error, (uint16_t)
	    (s->limits.idle_s * IDLE_UNITS_PER_S), present };

	length = stream_options_add(&options, asked, room + STREAM_PREFIX,
	    length, STREAM_MESSAGE_MAX);
	stream_frame_put(room, length);
	s->output_used += STREAM_PREFIX + length;
	return length;
}

enum stream_next
stream_put_failure(struct stream *s, struct stream_connection *c,
    const struct stream_record *of, enum extended_error error)
{
	struct decision decision = of->decision != NULL ? *of->decision :
	    (struct decision){ .reason = REASON_UNREACHABLE };
	struct answer_summary summary;
	struct question q;
	struct answer_plan plan = { .question = &q, .content = ANSWER_EMPTY,
		.rcode = RCODE_SERVFAIL, .stream = true,
		.settings = &s->thread.generation->settings.answers };
	struct stream_record record = *of;
	uint8_t *room;
	size_t n;

	if (stream_reserve(s, c, STREAM_FRAME_MAX, &room) == STREAM_CLOSE)
		return STREAM_CLOSE;
	question_parse(&q, of->question, of->question_length);
	n = answer_build(&plan, room + STREAM_PREFIX, STREAM_MESSAGE_MAX -
	    STREAM_OPTIONS_ROOM, &summary);
	n = stream_put_answer(s, room, n, &q.edns, error, 0);
	stream_count(s, STREAM_UNREACHABLE);
	decision.verdict = VERDICT_REFUSE;
	decision.rcode = RCODE_SERVFAIL;
	record.decision = &decision;
	record.answer = room + STREAM_PREFIX;
	record.answer_length = n;
	stream_record(s, c, &record);
	return STREAM_GO_ON;
}

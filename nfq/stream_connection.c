/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream_parts.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#include "nfq/stream_options.h"

#define IDLE_UNITS_PER_S 10	/* of edns-tcp-keepalive: 100 ms */

static uint64_t
now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
count_up(_Atomic uint64_t *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter,
	    memory_order_relaxed) + 1, memory_order_relaxed);
}

/* Keeps what the socket did not take. */
static void
keep_output(struct stream *s, struct stream_connection *c, size_t sent)
{
	if (stream_buffer_length(&c->out) == 0)
		c->unread_ms = s->now_ms;
	if (stream_buffer_put(&c->out, s->output + sent,
	    s->output_used - sent) < 0)
		stream_close(s, c);
}

void
stream_flush(struct stream *s, struct stream_connection *c)
{
	ssize_t n = 0;

	if (!c->closed && s->output_used > 0) {
		if (stream_buffer_length(&c->out) == 0)
			n = send(c->client.fd, s->output, s->output_used,
			    MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			n = 0;
		if (n < 0)
			stream_close(s, c);
		else if ((size_t)n < s->output_used)
			keep_output(s, c, (size_t)n);
	}
	s->output_used = 0;
}

/* Room in the thread's buffer; what is in it goes out first if need be. */
static uint8_t *
reserve(struct stream *s, struct stream_connection *c, size_t length)
{
	assert(length <= sizeof(s->output));
	if (sizeof(s->output) - s->output_used < length)
		stream_flush(s, c);
	return s->output + s->output_used;
}

void
stream_put_octets(struct stream *s, struct stream_connection *c,
    const uint8_t *octets, size_t length)
{
	memcpy(reserve(s, c, length), octets, length);
	s->output_used += length;
}

void
stream_put_message(struct stream *s, struct stream_connection *c,
    const uint8_t *message, size_t length)
{
	uint8_t *p = reserve(s, c, STREAM_PREFIX + length);

	stream_frame_put(p, length);
	memcpy(p + STREAM_PREFIX, message, length);
	s->output_used += STREAM_PREFIX + length;
}

/* How much of a message an answer may take if options follow it. */
static size_t
answer_room(const struct edns *edns)
{
	return edns->present && (edns->keepalive || edns->padding) ?
	    STREAM_MESSAGE_MAX - STREAM_OPTIONS_ROOM : STREAM_MESSAGE_MAX;
}

static uint16_t
idle_units(const struct stream *s)
{
	return (uint16_t)(s->config->stream.idle_s * IDLE_UNITS_PER_S);
}

void
stream_put_failure(struct stream *s, struct stream_connection *c,
    const uint8_t *question, size_t length, enum extended_error error)
{
	const struct stream_options options = { error, idle_units(s) };
	const struct decision decision = {
		.verdict = VERDICT_REFUSE, .reason = REASON_UNREACHABLE,
		.rcode = RCODE_SERVFAIL,
	};
	struct answer_summary summary;
	struct question q;
	struct answer_plan plan = { .question = &q, .content = ANSWER_EMPTY,
		.rcode = RCODE_SERVFAIL, .stream = true,
		.udp_size = table_settings(s->snapshot->table)->udp_size };
	uint8_t *p = reserve(s, c, STREAM_FRAME_MAX);
	size_t n;

	question_parse(&q, question, length);
	n = answer_build(&plan, p + STREAM_PREFIX, STREAM_MESSAGE_MAX -
	    STREAM_OPTIONS_ROOM, &summary);
	n = stream_options_add(&options, &q.edns, p + STREAM_PREFIX, n,
	    STREAM_MESSAGE_MAX);
	stream_frame_put(p, n);
	s->output_used += STREAM_PREFIX + n;
	stream_count(s, STREAM_UNREACHABLE);
	stream_record(s, c, &(struct stream_record){
	    .decision = &decision, .question = question,
	    .question_length = length, .answer = p + STREAM_PREFIX,
	    .answer_length = n, .received_ns = now_ns() });
}

/* Messages that only the nameserver can make sense of, with all that follows. */
static bool
wants_raw(const struct interception *i)
{
	if (i->decision.verdict != VERDICT_PASS)
		return false;
	return i->decision.reason == REASON_TRANSFER ||
	    (i->question.form != QUESTION_PLAIN &&
	    i->question.form != QUESTION_CHAOS);
}

static void
count_question(struct stream *s, const struct interception *i)
{
	struct status_worker *slot = s->slot;

	count_up(&slot->received);
	stream_count(s, STREAM_QUESTIONS);
	count_up(&slot->verdicts[i->decision.verdict]);
	count_up(&slot->reasons[i->decision.reason]);
	if (i->decision.reason == REASON_MALFORMED)
		count_up(&slot->malformed);
}

/* Finishes the answer that stands behind the prefix at p. */
static void
put_answer(struct stream *s, struct interception *i, uint8_t *p)
{
	const struct stream_options options = { EDE_NONE, idle_units(s) };

	if (i->question.edns.present)
		i->answer_length = stream_options_add(&options,
		    &i->question.edns, p + STREAM_PREFIX, i->answer_length,
		    STREAM_MESSAGE_MAX);
	stream_frame_put(p, i->answer_length);
	s->output_used += STREAM_PREFIX + i->answer_length;
}

/* One message of the client.  False: the connection is raw from it on. */
static bool
take_message(struct stream *s, struct stream_connection *c,
    const uint8_t *message, size_t length, uint64_t received_ns)
{
	uint8_t *p = reserve(s, c, STREAM_FRAME_MAX);
	struct interception i;

	i.question.edns.present = false;
	intercept_stream(&i, s->snapshot->table, message, length,
	    s->rotation++, p + STREAM_PREFIX, STREAM_MESSAGE_MAX -
	    STREAM_OPTIONS_ROOM);
	if (i.answer_length > 0 && i.summary.truncated)
		intercept_stream(&i, s->snapshot->table, message, length,
		    s->rotation, p + STREAM_PREFIX,
		    answer_room(&i.question.edns));
	count_question(s, &i);
	if (i.answer_length > 0)
		put_answer(s, &i, p);
	stream_record(s, c, &(struct stream_record){
	    .decision = &i.decision, .question = message,
	    .question_length = length, .answer = i.answer,
	    .answer_length = i.answer_length, .received_ns = received_ns });
	if (wants_raw(&i))
		return false;
	if (i.decision.verdict == VERDICT_PASS)
		stream_relay_question(s, c, message, length);
	return true;
}

/* Whether another question can be taken, as far as the client is concerned. */
static bool
can_take(struct stream *s, struct stream_connection *c)
{
	if (c->closed || stream_buffer_length(&c->out) > 0)
		return false;
	if (stream_relay_has_room(s, c)) {
		c->throttled = false;
		return true;
	}
	if (!c->throttled && !c->raw)
		stream_count(s, STREAM_THROTTLED);
	c->throttled = true;
	return false;
}

static void
become_raw(struct stream *s, struct stream_connection *c)
{
	stream_count(s, STREAM_RAW);
	stream_flush(s, c);
	c->raw = true;
	c->message_ms = 0;
	stream_relay_begin_raw(s, c);
}

/* What is left is part of a message, or cannot be taken now. */
static void
keep_input(struct stream *s, struct stream_connection *c,
    const struct stream_input *input, bool taken)
{
	if (c->closed)
		return;
	if (input->left == 0 || !can_take(s, c))
		c->message_ms = 0;
	else if (taken || c->message_ms == 0)
		c->message_ms = s->now_ms;
	if (stream_buffer_put(&c->in, input->octets, input->left) < 0)
		stream_close(s, c);
}

/* Takes what is in the thread's buffer. */
static void
take_input(struct stream *s, struct stream_connection *c, size_t length)
{
	struct stream_input input = { s->input, length };
	const uint64_t received_ns = now_ns();
	const uint8_t *start = input.octets, *message;
	size_t message_length;
	bool taken = false;

	while (!c->raw && can_take(s, c) &&
	    stream_frame_next(&input, &message, &message_length)) {
		if (take_message(s, c, message, message_length, received_ns)) {
			taken = true;
			start = input.octets;
			continue;
		}
		input.left += (size_t)(input.octets - start);
		input.octets = start;
		become_raw(s, c);
	}
	stream_flush(s, c);
	if (!c->raw) {
		keep_input(s, c, &input, taken);
		return;
	}
	stream_relay_octets(s, c, input.octets, input.left);
	if (c->ended)
		stream_relay_end(c);
}

/* What was kept goes back to the thread's buffer.  Returns its length. */
static size_t
fetch_input(struct stream *s, struct stream_connection *c)
{
	size_t kept = stream_buffer_length(&c->in);

	assert(kept <= sizeof(s->input) - STREAM_READ);
	if (kept > 0)
		memcpy(s->input, c->in.octets + c->in.start, kept);
	stream_buffer_clear(&c->in);
	return kept;
}

static void
read_client(struct stream *s, struct stream_connection *c)
{
	size_t kept = fetch_input(s, c);
	ssize_t n = recv(c->client.fd, s->input + kept, STREAM_READ,
	    MSG_DONTWAIT);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		stream_close(s, c);
		return;
	}
	if (n == 0)
		c->ended = true;
	take_input(s, c, kept + (n > 0 ? (size_t)n : 0));
}

static void
write_client(struct stream *s, struct stream_connection *c)
{
	ssize_t n = send(c->client.fd, c->out.octets + c->out.start,
	    stream_buffer_length(&c->out), MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			stream_close(s, c);
		return;
	}
	stream_buffer_take(&c->out, (size_t)n);
	/*
	 * An answer has to be read within its time.  A relayed transfer may
	 * take as long as it likes, as long as it goes on.
	 */
	if (stream_buffer_length(&c->out) == 0)
		c->unread_ms = 0;
	else if (c->raw && n > 0)
		c->unread_ms = s->now_ms;
}

void
stream_client_ready(struct stream *s, struct stream_connection *c,
    uint32_t events)
{
	/* Reset: nobody is there to read an answer. */
	if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
		stream_close(s, c);
		return;
	}
	c->active_ms = s->now_ms;
	if ((events & EPOLLOUT) != 0 && stream_buffer_length(&c->out) > 0)
		write_client(s, c);
	if ((events & EPOLLIN) != 0 && !c->closed && can_take(s, c))
		read_client(s, c);
	stream_settle(s, c);
}

/* Whether nothing more will happen on it. */
static bool
is_over(const struct stream_connection *c)
{
	return c->ended && stream_buffer_length(&c->out) == 0 &&
	    !stream_relay_is_busy(c);
}

void
stream_settle(struct stream *s, struct stream_connection *c)
{
	uint32_t events = 0;

	/* Questions that were kept for want of room. */
	if (!c->closed && !c->raw && stream_buffer_length(&c->in) > 0 &&
	    can_take(s, c))
		take_input(s, c, fetch_input(s, c));
	if (!c->closed)
		stream_relay_settle(s, c);
	if (c->closed)
		return;
	if (is_over(c)) {
		stream_close(s, c);
		return;
	}
	if (!c->ended && can_take(s, c))
		events |= EPOLLIN;
	if (stream_buffer_length(&c->out) > 0)
		events |= EPOLLOUT;
	stream_watch(s, &c->client, events);
}

bool
stream_is_idle(const struct stream_connection *c)
{
	return !c->raw && stream_buffer_length(&c->in) == 0 &&
	    stream_buffer_length(&c->out) == 0 && !stream_relay_is_busy(c);
}

static bool
is_past(const struct stream *s, int64_t since_ms, unsigned int seconds)
{
	return since_ms != 0 && s->now_ms - since_ms >= seconds * INT64_C(1000);
}

void
stream_client_tick(struct stream *s, struct stream_connection *c)
{
	const struct config_stream *limits = &s->config->stream;
	enum status_stream counter;

	if (is_past(s, c->message_ms, limits->message_s))
		counter = STREAM_SLOW;
	else if (is_past(s, c->unread_ms, limits->unread_s))
		counter = STREAM_UNREAD;
	else if (is_past(s, c->active_ms, limits->idle_s) &&
	    (c->raw || stream_is_idle(c)))
		counter = STREAM_IDLE;
	else
		return;
	stream_count(s, counter);
	stream_close(s, c);
}

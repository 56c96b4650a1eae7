/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream/parts.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "nfq/stream/options.h"

/*
 * Messages to which there may be any answers, or none: those of the nameserver
 * go to the client unmatched from then on.  What the client sends is framed and
 * judged message by message as before.
 */
static bool
wants_raw(const struct interception *i)
{
	if (i->decision.verdict != VERDICT_PASS)
		return false;
	return i->decision.reason == REASON_TRANSFER ||
	    (i->question.form != QUESTION_PLAIN &&
	    i->question.form != QUESTION_CHAOS);
}

/* A message of the client. */
struct received {
	const uint8_t *octets;
	size_t length;
};

static bool
is_chain(const struct interception *i)
{
	return i->decision.content == ANSWER_CHAIN && i->answer_length > 0;
}

/* The forward domain of a name that is not ours; -1: none. */
static int
domain_of(const struct stream *s, const struct interception *i)
{
	return decide_is_for_others(&i->decision) ?
	    forward_settings_domain(&s->thread.generation->settings.forward,
	    &i->question.name) : -1;
}

/*
 * Decides about the message, whose answer is written behind room's prefix.  True:
 * upstreams are to be asked for the answer, or for the end of a chain.
 */
static bool
decide_message(struct stream *s, const struct stream_connection *c,
    const struct received *message, uint8_t *room, struct interception *i)
{
	const struct generation *generation = s->thread.generation;
	const struct answer_source source = generation_source(generation);
	const struct policy_source *policy = generation_policy(generation);
	const struct policy_source again = { .rules = policy != NULL ?
	    policy->rules : NULL };
	struct reply_room answer = { room + STREAM_PREFIX,
		STREAM_MESSAGE_MAX - STREAM_OPTIONS_ROOM, true };
	int domain;

	i->question.edns.present = false;
	i->asker = stream_asker(s, c);
	i->forward = &generation->settings.forward;
	i->policy = policy != NULL && c->decided ? &again : policy;
	i->unanswerable = false;
	/* Its first packet's sender was forgotten: senders.h. */
	i->unowned = c->sender.uid == (uid_t)-1 && !c->sender.guest;
	intercept_message(i, message->octets, message->length);
	intercept_answer(i, &source, s->thread.rotation++, answer);
	if (i->answer_length > 0 && i->summary.truncated) {
		/* The same once more: it takes no second token. */
		i->policy = policy != NULL ? &again : NULL;
		answer.size = (uint32_t)stream_answer_room(&i->question.edns);
		intercept_answer(i, &source, s->thread.rotation, answer);
	}
	i->policy = policy;
	domain = domain_of(s, i);
	i->domain = domain >= 0 ? (uint32_t)domain : 0;
	return domain >= 0 || is_chain(i);
}

/* Answers it, or has it asked or relayed; or it has to be raw from it on. */
static enum stream_next
take_message(struct stream *s, struct stream_connection *c,
    const struct received *message)
{
	struct interception i;
	bool is_asked;
	uint8_t *room;

	if (stream_reserve(s, c, STREAM_FRAME_MAX, &room) == STREAM_CLOSE)
		return STREAM_CLOSE;
	is_asked = decide_message(s, c, message, room, &i);
	c->decided = wants_raw(&i) && !c->raw;
	if (c->decided)
		return STREAM_WANTS_RAW;
	if (is_asked && !is_chain(&i)) {
		i.decision.verdict = VERDICT_FORWARD;
		i.decision.reason = REASON_FORWARD;
	}
	answering_count(&s->thread, &i.decision, &i.asker);
	answering_count_asked(&s->thread, &i.question, &i.asker);
	stream_count(s, STREAM_QUESTIONS);
	/* It is recorded with its end. */
	if (is_chain(&i) || i.decision.verdict == VERDICT_FORWARD)
		return stream_ask(s, c, &i, message->octets,
		    message->length);
	if (i.answer_length > 0)
		i.answer_length = stream_put_answer(s, room, i.answer_length,
		    &i.question.edns, EDE_NONE, i.summary.options);
	stream_record(s, c, &(struct stream_record){
	    .decision = &i.decision, .question = message->octets,
	    .question_length = message->length, .answer = i.answer,
	    .answer_length = i.answer_length,
	    .received_ns = s->thread.received_ns,
	    .note = intercept_note(&i) });
	if (i.decision.verdict == VERDICT_DROP)
		return STREAM_CLOSE;
	return i.decision.verdict != VERDICT_PASS ? STREAM_GO_ON :
	    stream_relay_question(s, c, message->octets, message->length,
	    wants_raw(&i));
}

/* Whether another question can be taken, as far as the client is concerned. */
static bool
can_take(struct stream *s, struct stream_connection *c)
{
	if (stream_buffer_length(&c->out) > 0)
		return false;
	if (stream_relay_has_room(c) && stream_ask_has_room(c)) {
		c->throttled = false;
		return true;
	}
	if (!c->throttled)
		stream_count(s, STREAM_THROTTLED);
	c->throttled = true;
	return false;
}

/* What is left is part of a message, or cannot be taken now. */
static enum stream_next
keep_input(struct stream *s, struct stream_connection *c,
    const struct stream_input *input, bool taken)
{
	if (input->left == 0 || !can_take(s, c))
		c->message_since = MONOTIME_NEVER;
	else if (taken || !monotime_is_set(c->message_since))
		c->message_since = s->thread.now;
	return stream_buffer_put(&c->in, input->octets, input->left) < 0 ?
	    STREAM_CLOSE : STREAM_GO_ON;
}

/*
 * Takes whole messages from the thread's buffer, as many as can be, up to one from
 * which on the connection has to be raw.
 */
static enum stream_next
take_messages(struct stream *s, struct stream_connection *c, size_t length)
{
	struct received message;
	struct stream_input input = { s->input, length }, rest = input;
	enum stream_next next = STREAM_GO_ON;
	bool taken = false;

	while (next == STREAM_GO_ON && can_take(s, c) &&
	    stream_frame_next(&rest, &message.octets, &message.length)) {
		next = take_message(s, c, &message);
		if (next == STREAM_GO_ON)
			input = rest;
		taken |= next == STREAM_GO_ON;
	}
	if (next == STREAM_CLOSE || stream_flush(s, c) == STREAM_CLOSE ||
	    keep_input(s, c, &input, taken) == STREAM_CLOSE)
		return STREAM_CLOSE;
	if (next == STREAM_WANTS_RAW)
		c->message_since = MONOTIME_NEVER;	/* it is here, and waits for us */
	return next;
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

/* The message that wants it is the first of those that were kept. */
enum stream_next
stream_client_begin_raw(struct stream *s, struct stream_connection *c)
{
	stream_count(s, STREAM_RAW);
	c->raw = true;
	return take_messages(s, c, fetch_input(s, c));
}

enum stream_next
stream_client_ready(struct stream *s, struct stream_connection *c,
    uint32_t events)
{
	/* Reset: nobody is there to read an answer. */
	if ((events & (EPOLLERR | EPOLLHUP)) != 0)
		return STREAM_CLOSE;
	c->active = s->thread.now;
	if ((events & EPOLLOUT) != 0 && stream_buffer_length(&c->out) > 0 &&
	    stream_send_waiting(s, c) == STREAM_CLOSE)
		return STREAM_CLOSE;
	if ((events & EPOLLIN) != 0 && !c->ended && can_take(s, c)) {
		size_t kept = fetch_input(s, c);
		ssize_t n = recv(c->client.fd, s->input + kept, STREAM_TURN,
		    MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return STREAM_CLOSE;
		if (n == 0)
			c->ended = true;
		return take_messages(s, c, kept + (n > 0 ? (size_t)n : 0));
	}
	return STREAM_GO_ON;
}

/*
 * Questions that were kept for want of room.  They may fail at once, which
 * makes room for others.
 */
static enum stream_next
take_kept(struct stream *s, struct stream_connection *c)
{
	enum stream_next next;

	do {
		next = STREAM_GO_ON;
		if (stream_buffer_length(&c->in) > 0 && can_take(s, c))
			next = take_messages(s, c, fetch_input(s, c));
		if (next != STREAM_GO_ON)
			return next;
		if (stream_relay_settle(s, c) == STREAM_CLOSE)
			return STREAM_CLOSE;
	} while (c->throttled && can_take(s, c));
	return STREAM_GO_ON;
}

enum stream_next
stream_client_settle(struct stream *s, struct stream_connection *c)
{
	enum stream_next next = take_kept(s, c);
	uint32_t events = 0;

	if (next != STREAM_GO_ON)
		return next;
	/* Nothing more will happen on it. */
	if (c->ended && stream_buffer_length(&c->out) == 0 &&
	    c->question_count == 0 && !stream_relay_is_busy(c))
		return STREAM_CLOSE;
	if (!c->ended && can_take(s, c))
		events |= EPOLLIN;
	if (stream_buffer_length(&c->out) > 0)
		events |= EPOLLOUT;
	stream_watch(s, &c->client, events);
	return STREAM_GO_ON;
}

bool
stream_is_idle(const struct stream_connection *c)
{
	return !c->raw && stream_buffer_length(&c->in) == 0 &&
	    stream_buffer_length(&c->out) == 0 && c->question_count == 0 &&
	    !stream_relay_is_busy(c);
}

static bool
has_lasted(const struct stream *s, monotime_t since, unsigned int seconds)
{
	return monotime_is_set(since) && monotime_ms_since(s->thread.now, since) >=
	    seconds * INT64_C(1000);
}

enum stream_next
stream_client_tick(struct stream *s, struct stream_connection *c)
{
	enum status_stream counter;

	if (has_lasted(s, c->message_since, STREAM_MESSAGE_S))
		counter = STREAM_SLOW;
	else if (has_lasted(s, c->unread_since, STREAM_UNREAD_S))
		counter = STREAM_UNREAD;
	else if (has_lasted(s, c->active, s->limits.idle_s) &&
	    (c->raw || stream_is_idle(c)))
		counter = STREAM_IDLE;
	else if (has_lasted(s, c->raw_since, STREAM_RAW_S))
		counter = STREAM_RAW_EXPIRED;
	else
		return STREAM_GO_ON;
	stream_count(s, counter);
	return STREAM_CLOSE;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream/parts.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
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

/* What has become of it; it stays where it is unless it was taken. */
enum taken {
	TAKEN,
	TAKEN_NOT,			/* but later */
	TAKEN_RAW,			/* the connection is to be raw from it on */
};

static bool
is_chain(const struct interception *i)
{
	return i->decision.content == ANSWER_CHAIN && i->answer_length > 0;
}

/* Whether somebody else is asked, about the question or the chain's end. */
static bool
is_relayed(const struct interception *i)
{
	return i->decision.verdict == VERDICT_PASS ||
	    i->decision.verdict == VERDICT_FORWARD || is_chain(i);
}

/* The forward domain of the name that is to be asked for. */
static uint32_t
domain_of(const struct stream *s, const struct interception *i)
{
	const struct chase chain = { .chain = i->answer,
		.length = i->answer_length, .target = i->summary.target };
	uint8_t query[CHASE_QUESTION_MAX];
	struct question target;

	if (decide_is_for_others(&i->decision))
		return stream_target_domain(s, &i->question.name);
	if (!s->options->forward || !is_chain(i))
		return FORWARD_DOMAINS;
	question_parse(&target, query,
	    chase_question(&chain, &i->question, 0, query));
	return target.form != QUESTION_PLAIN ? FORWARD_DOMAINS :
	    stream_target_domain(s, &target.name);
}

/* Who is asked about a message, or about its chain's end. */
struct way {
	uint32_t domain;		/* the domain's upstreams; FORWARD_DOMAINS:
					 * the nameserver that was addressed */
	bool is_errand;
};

/* The chain leaves the table: somebody else has the rest of the answer. */
static enum stream_next
chase(struct stream *s, struct stream_connection *c, const struct way *way,
    const struct interception *i, const struct received *message)
{
	struct stream_chase *chase = stream_chase_new(i, message->octets,
	    message->length, s->thread.received_ns);

	if (chase == NULL)
		return stream_put_failure(s, c, &(struct stream_question){
		    message->octets, message->length, NULL, false },
		    EDE_NO_REACHABLE_AUTHORITY);
	return way->is_errand ? stream_errand_chase(s, c, chase) :
	    stream_relay_chase(s, c, way->domain, chase);
}

/* A client with his share of errands waiting gets what the domain says instead. */
static struct way
way_of(const struct stream *s, const struct stream_connection *c,
    const struct answer_source *source, struct interception *i, uint8_t *room)
{
	struct way way = { .domain = domain_of(s, i) };

	if (!is_relayed(i) || !stream_is_errand(s, c, way.domain))
		return way;
	way.is_errand = !stream_errands_are_full(s, c);
	if (way.is_errand || is_chain(i))
		return way;
	intercept_full_stream(i, source, stream_target_full(s, way.domain),
	    room + STREAM_PREFIX, STREAM_MESSAGE_MAX - STREAM_OPTIONS_ROOM);
	way.domain = FORWARD_DOMAINS;
	return way;
}

/* NULL: out of memory. */
static struct stream_asked *
asked_new(const struct stream *s, const struct interception *i)
{
	struct stream_asked *asked = malloc(sizeof(*asked));

	if (asked != NULL)
		*asked = (struct stream_asked){ i->decision, intercept_note(i),
			s->thread.received_ns };
	return asked;
}

/* Has it asked elsewhere.  For a domain, it is recorded with its answer. */
static enum stream_next
ask(struct stream *s, struct stream_connection *c, const struct way *way,
    const struct interception *i, const struct received *message)
{
	struct stream_question q = { message->octets, message->length, NULL,
		wants_raw(i) };

	if (way->domain != FORWARD_DOMAINS) {
		q.asked = asked_new(s, i);
		if (q.asked == NULL)
			return stream_put_failure(s, c, &q,
			    EDE_NO_REACHABLE_AUTHORITY);
	}
	return way->is_errand ? stream_errand_begin(s, c, &q) :
	    stream_relay_question(s, c, way->domain, &q);
}

/* Answers it, or has it relayed. */
static enum stream_next
take_message(struct stream *s, struct stream_connection *c,
    const struct received *message, enum taken *taken)
{
	const uint8_t *octets = message->octets;
	const size_t length = message->length;
	const struct answer_source source =
	    generation_source(s->thread.generation);
	const struct policy_source *policy =
	    generation_policy(s->thread.generation);
	struct policy_source again = { .rules = policy != NULL ?
	    policy->rules : NULL };
	struct interception i;
	struct way way;
	uint8_t *room;

	if (stream_reserve(s, c, STREAM_FRAME_MAX, &room) == STREAM_CLOSE)
		return STREAM_CLOSE;
	i.question.edns.present = false;
	i.asker = stream_asker(s, c);
	i.policy = policy != NULL && c->decided ? &again : policy;
	intercept_stream(&i, &source, octets, length, s->thread.rotation++,
	    room + STREAM_PREFIX, STREAM_MESSAGE_MAX - STREAM_OPTIONS_ROOM);
	if (i.answer_length > 0 && i.summary.truncated) {
		/* The same once more: it takes no second token. */
		i.policy = policy != NULL ? &again : NULL;
		intercept_stream(&i, &source, octets, length,
		    s->thread.rotation, room + STREAM_PREFIX,
		    stream_answer_room(&i.question.edns));
	}
	/* Its first packet's sender was forgotten: senders.h. */
	if (c->sender.uid == (uid_t)-1)
		(void)intercept_drop_unowned(&i);
	way = way_of(s, c, &source, &i, room);
	if (is_relayed(&i) && !way.is_errand &&
	    !stream_relay_may_ask(s, c, way.domain))
		*taken = TAKEN_NOT;
	else if (wants_raw(&i) && !c->raw)
		*taken = TAKEN_RAW;
	c->decided = *taken != TAKEN;
	if (c->decided)
		return STREAM_GO_ON;
	if (way.domain != FORWARD_DOMAINS && !is_chain(&i)) {
		i.decision.verdict = VERDICT_FORWARD;
		i.decision.reason = REASON_FORWARD;
	}
	if (i.question.wire_length > 0 &&
	    answering_must_refuse(&s->thread, &i.decision))
		intercept_refuse_stream(&i, &source, room + STREAM_PREFIX,
		    STREAM_MESSAGE_MAX - STREAM_OPTIONS_ROOM);
	answering_count(&s->thread, &i.decision);
	answering_count_asked(&s->thread, &i.question, i.asker.family,
	    i.asker.uid);
	stream_count(s, STREAM_QUESTIONS);
	if (is_chain(&i))
		return chase(s, c, &way, &i, message);
	if (i.answer_length > 0)
		i.answer_length = stream_put_answer(s, room, i.answer_length,
		    &i.question.edns, EDE_NONE, i.summary.options);
	if (is_relayed(&i) && way.domain != FORWARD_DOMAINS)
		return ask(s, c, &way, &i, message);
	stream_record(s, c, &(struct stream_record){
	    .decision = &i.decision, .question = octets,
	    .question_length = length, .answer = i.answer,
	    .answer_length = i.answer_length,
	    .received_ns = s->thread.received_ns,
	    .note = intercept_note(&i) });
	if (i.decision.verdict == VERDICT_DROP)
		return STREAM_CLOSE;
	return is_relayed(&i) ? ask(s, c, &way, &i, message) : STREAM_GO_ON;
}

/* Whether another question can be taken, as far as the client is concerned. */
static bool
can_take(struct stream *s, struct stream_connection *c)
{
	if (stream_buffer_length(&c->out) > 0)
		return false;
	if (stream_relay_has_room(s, c) && stream_errands_have_room(s, c)) {
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
	enum taken what = TAKEN;
	bool taken = false;

	while (can_take(s, c) &&
	    stream_frame_next(&rest, &message.octets, &message.length)) {
		if (take_message(s, c, &message, &what) == STREAM_CLOSE)
			return STREAM_CLOSE;
		if (what != TAKEN)
			break;
		taken = true;
		input = rest;
	}
	if (stream_flush(s, c) == STREAM_CLOSE ||
	    keep_input(s, c, &input, taken) == STREAM_CLOSE)
		return STREAM_CLOSE;
	if (what != TAKEN)
		c->message_since = MONOTIME_NEVER;	/* it is here, and waits for us */
	return what == TAKEN_RAW ? STREAM_WANTS_RAW : STREAM_GO_ON;
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

static enum stream_next
read_client(struct stream *s, struct stream_connection *c)
{
	size_t kept = fetch_input(s, c);
	ssize_t n = recv(c->client.fd, s->input + kept,
	    STREAM_TURN, MSG_DONTWAIT);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return STREAM_CLOSE;
	if (n == 0)
		c->ended = true;
	return take_messages(s, c, kept + (n > 0 ? (size_t)n : 0));
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
	if ((events & EPOLLIN) != 0 && !c->ended && can_take(s, c))
		return read_client(s, c);
	return STREAM_GO_ON;
}

/* Whether nothing more will happen on it. */
static bool
is_over(const struct stream_connection *c)
{
	return c->ended && stream_buffer_length(&c->out) == 0 &&
	    c->errand_count == 0 && !stream_relay_is_busy(c);
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
	if (is_over(c))
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
	    stream_buffer_length(&c->out) == 0 && c->errand_count == 0 &&
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
	const struct stream_settings *limits = &s->limits;
	enum status_stream counter;

	if (has_lasted(s, c->message_since, limits->message_s))
		counter = STREAM_SLOW;
	else if (has_lasted(s, c->unread_since, limits->unread_s))
		counter = STREAM_UNREAD;
	else if (has_lasted(s, c->active, limits->idle_s) &&
	    (c->raw || stream_is_idle(c)))
		counter = STREAM_IDLE;
	else if (has_lasted(s, c->raw_since, limits->raw_lifetime_s))
		counter = STREAM_RAW_EXPIRED;
	else
		return STREAM_GO_ON;
	stream_count(s, counter);
	return STREAM_CLOSE;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions for names of forward domains, and for the ends of chains of CNAMEs that
 * leave the table: they are asked as those over UDP (nfq/upstream/forwarder.h), and
 * the answers go to the client in the order in which they come (RFC 7766 section
 * 6.2.1.1).
 *
 * The engine answers within its own functions, and often within stream_ask(), where a
 * step of the connection is under way: what it says is kept, and handled at its turn.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nfq/stream/parts.h"
#include "resolver/dns/message.h"
#include "resolver/dns/wire.h"
#include "nfq/stream/options.h"

/* Answers of others before the client gets them: rules judge their names. */

/* The question once more, as it was taken: intercept_judge(). */
static bool
begin(const struct stream *s, const struct stream_connection *c,
    const struct stream_asked *asked, struct interception *i)
{
	i->policy = generation_policy(s->thread.generation);
	if (i->policy == NULL)
		return false;
	i->asker = stream_asker(s, c);
	i->others = false;
	i->decision = (struct decision){ .verdict = VERDICT_FORWARD,
		.reason = REASON_FORWARD, .rule = asked->decision.rule };
	i->found = (struct policy_found){ .would = RULE_NOTHING };
	i->summary.options = 0;
	question_parse(&i->question, asked->octets, asked->length);
	return true;
}

/*
 * Before the client gets an answer that is not the table's, as it would get it.  True:
 * a rule denies one of its names, the client has what that rule says, it is recorded,
 * and *next is the step.  False: nothing has happened, the answer is the client's.
 */
static bool
stream_deny(struct stream *s, struct stream_connection *c,
    const struct stream_asked *asked, const struct policy_answer *answer,
    enum stream_next *next)
{
	const struct answer_source source =
	    generation_source(s->thread.generation);
	struct interception i;
	uint8_t *room;

	if (!begin(s, c, asked, &i))
		return false;
	*next = stream_reserve(s, c, STREAM_FRAME_MAX, &room);
	if (*next == STREAM_CLOSE)
		return false;
	if (!intercept_judge(&i, &source, answer, (struct reply_room){
	    room + STREAM_PREFIX, STREAM_MESSAGE_MAX - STREAM_OPTIONS_ROOM,
	    true }))
		return false;
	if (i.answer_length > 0)
		i.answer_length = stream_put_answer(s, room, i.answer_length,
		    &i.question.edns, EDE_NONE, i.summary.options);
	stream_record(s, c, &(struct stream_record){
	    .decision = &i.decision, .question = asked->octets,
	    .question_length = asked->length, .answer = i.answer,
	    .answer_length = i.answer_length,
	    .received_ns = asked->received_ns,
	    .note = intercept_note_again(&i, &asked->note) });
	if (i.decision.verdict == VERDICT_DROP)
		*next = STREAM_CLOSE;
	return true;
}

/*
 * Answers come whether the client reads or not, unlike those of a nameserver that
 * we read from: this is what one connection may have of them, beside one more.
 */
#define UNREAD_MAX	((size_t)4 * STREAM_FRAME_MAX)
/* Of all answers that wait for their turn; many may come at once, equal ones. */
#define ANSWERED_MAX	((size_t)8 << 20)
#define QUESTION_MAX	2048		/* octets, as of a packet that is held */
#define DNS_PORT	53

bool
stream_ask_has_room(const struct stream_connection *c)
{
	return c->question_count < STREAM_IN_FLIGHT &&
	    c->question_octets < STREAM_BUFFER;
}

static struct forward_upstream
nameserver_of(const struct stream_connection *c)
{
	struct forward_upstream to = { .family = c->name.any.sa_family,
		.port = DNS_PORT, .transport = FORWARD_AUTO };
	uint16_t port;

	(void)sockets_address_split(&c->name, to.address, &port);
	if (to.family == AF_INET6)
		to.scope = c->name.v6.sin6_scope_id;
	return to;
}

static bool
is_chain(const struct stream_asked *q)
{
	return q->chase.length > 0;
}

static size_t
octets_of(const struct stream_asked *q)
{
	return q->length + q->chase.length;
}

static struct stream_record
record_of(const struct stream_asked *q)
{
	return (struct stream_record){
	    .decision = &q->decision, .question = q->octets,
	    .question_length = q->length,
	    .received_ns = q->received_ns, .note = q->note };
}

/* Nobody gets an answer of ours. */
static void
record_end(struct stream *s, const struct stream_connection *c,
    const struct stream_asked *q)
{
	const struct stream_record record = record_of(q);

	stream_record(s, c, &record);
}

/* Puts the answer that stands in the reserved room, and records it. */
static void
put(struct stream *s, struct stream_connection *c,
    const struct stream_asked *q, uint8_t *room, size_t length,
    uint16_t options, enum extended_error error)
{
	const uint8_t *answer = room + STREAM_PREFIX;
	struct stream_record record = record_of(q);
	struct decision decision = q->decision;

	length = stream_put_answer(s, room, length, &q->client.question.edns,
	    error, options);
	decision.verdict = decide_verdict_of(answer, length);
	decision.rcode = answer[3] & DNS_RCODE_MASK;
	answering_count_rcode(s->thread.slot->forwarded_rcodes, decision.rcode);
	record.decision = &decision;
	record.answer = answer;
	record.answer_length = length;
	stream_record(s, c, &record);
}

/* SERVFAIL, behind the chain if there is one. */
static enum stream_next
put_failure(struct stream *s, struct stream_connection *c,
    const struct stream_asked *q)
{
	const enum extended_error error = EDE_NO_REACHABLE_AUTHORITY;
	const struct stream_record record = record_of(q);
	uint8_t *room;

	if (!is_chain(q))
		return stream_put_failure(s, c, &record, error);
	if (stream_reserve(s, c, STREAM_FRAME_MAX, &room) == STREAM_CLOSE)
		return STREAM_CLOSE;
	stream_count(s, STREAM_UNREACHABLE);
	put(s, c, q, room, chase_fail(&q->chase, room + STREAM_PREFIX),
	    q->chain_options, error);
	return STREAM_GO_ON;
}

/* NULL: it is too long to wait, or there is no memory. */
static struct stream_asked *
question_new(struct stream_connection *c, const struct interception *i,
    const uint8_t *message, size_t length)
{
	const size_t chain = i->answer_length;
	struct stream_asked *q = length > QUESTION_MAX ? NULL :
	    calloc(1, sizeof(*q) + length + chain);

	if (q == NULL)
		return NULL;
	q->connection = c;
	q->length = length;
	q->decision = i->decision;
	q->note = intercept_note(i);
	memcpy(q->octets, message, length);
	q->client = (struct engine_client){
		.message = q->octets, .length = length,
		.question = i->question, .uid = c->sender.uid, .stream = true,
		.nameserver = nameserver_of(c) };
	/* Of the copy. */
	q->client.question.wire = q->octets + (i->question.wire - message);
	if (chain == 0)
		return q;
	memcpy(q->octets + length, i->answer, chain);
	q->chain_options = i->summary.options;
	q->chase = (struct chase){ .chain = q->octets + length,
		.length = chain, .target = i->summary.target,
		.opt = chase_opt(i->question.edns.present, q->chain_options) };
	q->client.chase = &q->chase;
	q->client.end = &q->end;
	return q;
}

enum stream_next
stream_ask(struct stream *s, struct stream_connection *c,
    const struct interception *i, const uint8_t *message, size_t length)
{
	struct stream_asked *q = question_new(c, i, message, length);

	if (q == NULL)
		return stream_put_failure(s, c, &(struct stream_record){
		    .question = message, .question_length = length,
		    .received_ns = s->thread.received_ns },
		    EDE_NO_REACHABLE_AUTHORITY);
	q->client.generation = s->thread.generation->number;
	q->client.domain = i->domain;
	q->received_ns = s->thread.received_ns;
	LIST_INSERT_HEAD(&c->questions, q, in_connection);
	TAILQ_INSERT_TAIL(&s->asked, q, entry);
	c->question_count++;
	c->question_octets += octets_of(q);
	s->ask(s, q);
	return STREAM_GO_ON;
}

void
stream_ask_free(struct stream *s, struct stream_asked *q)
{
	if (q->state == STREAM_ASKED) {
		TAILQ_REMOVE(&s->asked, q, entry);
	} else {
		TAILQ_REMOVE(&s->answered, q, entry);
		s->answered_count--;
	}
	s->answered_octets -= q->answer_length;
	free(q->answer);
	free(q);
}

void
stream_ask_answer(struct stream *s, struct stream_asked *q,
    enum stream_asked_state state, const uint8_t *octets, size_t length)
{
	if (q->connection == NULL) {
		stream_ask_free(s, q);
		return;
	}
	q->state = state;
	if (state == STREAM_ANSWERED) {
		q->answer = s->answered_octets + length > ANSWERED_MAX ? NULL :
		    malloc(length);
		if (q->answer != NULL) {
			memcpy(q->answer, octets, length);
			q->answer_length = length;
			s->answered_octets += length;
		} else {
			q->state = STREAM_FAILED;
		}
	}
	TAILQ_REMOVE(&s->asked, q, entry);
	TAILQ_INSERT_TAIL(&s->answered, q, entry);
	s->answered_count++;
}

static void
client_answer(void *arg, struct engine_client *client, const uint8_t *octets,
    size_t length)
{
	stream_ask_answer(arg, (struct stream_asked *)client,
	    STREAM_ANSWERED, octets, length);
}

static void
client_pass(void *arg, struct engine_client *client)
{
	stream_ask_answer(arg, (struct stream_asked *)client,
	    STREAM_PASSED, NULL, 0);
}

static void
client_drop(void *arg, struct engine_client *client)
{
	stream_ask_answer(arg, (struct stream_asked *)client,
	    STREAM_FAILED, NULL, 0);
}

const struct forwarder_clients stream_ask_clients = {
	.answer = client_answer, .pass = client_pass, .drop = client_drop,
};

/* The answer as the engine has it, unless a rule denies a name of it. */
static enum stream_next
put_answer(struct stream *s, struct stream_connection *c,
    const struct stream_asked *q)
{
	const struct policy_answer answer = { q->answer, q->answer_length,
		is_chain(q) ? wire_load_u16(q->chase.chain + 6) : 0 };
	enum stream_next next;
	uint8_t *room;

	if (stream_deny(s, c, q, &answer, &next))
		return next;
	if (stream_reserve(s, c, STREAM_FRAME_MAX, &room) == STREAM_CLOSE) {
		record_end(s, c, q);
		return STREAM_CLOSE;
	}
	memcpy(room + STREAM_PREFIX, q->answer, q->answer_length);
	put(s, c, q, room, q->answer_length, q->client.options, EDE_NONE);
	return STREAM_GO_ON;
}

static void
leave(struct stream_connection *c, struct stream_asked *q)
{
	LIST_REMOVE(q, in_connection);
	q->connection = NULL;
	c->question_count--;
	c->question_octets -= octets_of(q);
}

enum stream_next
stream_ask_end(struct stream *s, struct stream_asked *q)
{
	struct stream_connection *c = q->connection;
	enum stream_next next;

	leave(c, q);
	if (q->state == STREAM_ANSWERED &&
	    stream_buffer_length(&c->out) < UNREAD_MAX)
		next = put_answer(s, c, q);
	else if (q->state == STREAM_PASSED && !is_chain(q)) {
		record_end(s, c, q);
		next = stream_relay_question(s, c, q->octets, q->length, false);
	} else
		next = put_failure(s, c, q);
	stream_ask_free(s, q);
	return next;
}

void
stream_ask_forget(struct stream *s, struct stream_connection *c)
{
	struct stream_asked *q;

	while ((q = LIST_FIRST(&c->questions)) != NULL) {
		record_end(s, c, q);
		leave(c, q);
		if (q->state != STREAM_ASKED)
			stream_ask_free(s, q);
	}
}

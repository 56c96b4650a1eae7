/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions for names of forward domains, and for the ends of chains of CNAMEs that
 * leave the table: the forwarding thread asks them (nfq/thread/errands.h), over TCP
 * as over UDP, and the answers go to the client in the order in which they come (RFC
 * 7766 section 6.2.1.1).
 */
#include <string.h>
#include <sys/socket.h>

#include "nfq/stream/parts.h"
#include "resolver/dns/message.h"
#include "resolver/dns/wire.h"

/*
 * Answers come whether the client reads or not, unlike those of a nameserver that
 * we read from: this is what one connection may have of them, beside one more.
 */
#define UNREAD_MAX	((size_t)4 * STREAM_FRAME_MAX)

bool
stream_errands_are_full(const struct stream *s,
    const struct stream_connection *c)
{
	const struct forward_limits *limits =
	    &s->thread.generation->settings.forward.limits;

	return waiting_is_full(&s->thread.threads->waiting, c->sender.uid,
	    limits->user, limits->held);
}

bool
stream_errands_have_room(const struct stream_connection *c)
{
	return c->errand_count < STREAM_IN_FLIGHT &&
	    c->errand_octets < STREAM_BUFFER;
}

static void
set_nameserver(struct errand *errand, const struct stream_connection *c)
{
	uint16_t port;

	errand->family = c->name.any.sa_family;
	(void)sockets_address_split(&c->name, errand->address, &port);
	if (errand->family == AF_INET6)
		errand->scope = c->name.v6.sin6_scope_id;
}

static bool
is_chain(const struct errand *errand)
{
	return errand->chase.length > 0;
}

/* False: nobody has it asked. */
static bool
send_it(struct stream *s, struct stream_connection *c, struct errand *errand)
{
	if (is_chain(errand) && stream_errands_are_full(s, c))
		return false;
	errand->of = c;
	errand->uid = c->sender.uid;
	set_nameserver(errand, c);
	LIST_INSERT_HEAD(&c->errands, errand, in_sender);
	if (!errands_send(&s->thread.threads->errands, errand)) {
		LIST_REMOVE(errand, in_sender);
		return false;
	}
	c->errand_count++;
	c->errand_octets += errand_octets(errand);
	return true;
}

static struct stream_record
record_of(const struct errand *errand)
{
	return (struct stream_record){
	    .decision = &errand->decision, .question = errand->octets,
	    .question_length = errand->length,
	    .received_ns = errand->received_ns, .note = errand->note };
}

/* Nobody gets an answer of ours. */
static void
record_end(struct stream *s, const struct stream_connection *c,
    const struct errand *errand)
{
	const struct stream_record record = record_of(errand);

	stream_record(s, c, &record);
}

/* Puts the answer that stands in the reserved room, and records it. */
static void
put(struct stream *s, struct stream_connection *c, const struct errand *errand,
    uint8_t *room, size_t length, enum extended_error error)
{
	const uint8_t *answer = room + STREAM_PREFIX;
	struct stream_record record = record_of(errand);
	struct decision decision = errand->decision;
	struct question asked;

	question_parse(&asked, errand->octets, errand->length);
	length = stream_put_answer(s, room, length, &asked.edns, error,
	    errand->options);
	decision.verdict = decide_verdict_of(answer, length);
	decision.rcode = answer[3] & DNS_RCODE_MASK;
	record.decision = &decision;
	record.answer = answer;
	record.answer_length = length;
	stream_record(s, c, &record);
}

/* SERVFAIL, behind the chain if there is one. */
static enum stream_next
put_failure(struct stream *s, struct stream_connection *c,
    struct errand *errand)
{
	const enum extended_error error = EDE_NO_REACHABLE_AUTHORITY;
	const struct stream_record record = record_of(errand);
	uint8_t *room;

	if (!is_chain(errand))
		return stream_put_failure(s, c, &record, error);
	if (stream_reserve(s, c, STREAM_FRAME_MAX, &room) == STREAM_CLOSE)
		return STREAM_CLOSE;
	errand->options = errand->chain_options;
	stream_count(s, STREAM_UNREACHABLE);
	put(s, c, errand, room, chase_fail(&errand->chase,
	    room + STREAM_PREFIX), error);
	return STREAM_GO_ON;
}

enum stream_next
stream_errand_begin(struct stream *s, struct stream_connection *c,
    const struct interception *i, const uint8_t *message, size_t length)
{
	const struct chase chase = { .chain = i->answer,
		.length = i->answer_length, .target = i->summary.target,
		.opt = chase_opt(i->question.edns.present,
		    i->summary.options) };
	const bool chain = i->answer_length > 0;
	struct errand *errand = errand_new(message, length,
	    chain ? &chase : NULL);
	enum stream_next next;

	if (errand == NULL)
		return stream_put_failure(s, c, &(struct stream_record){
		    .question = message, .question_length = length,
		    .received_ns = s->thread.received_ns },
		    EDE_NO_REACHABLE_AUTHORITY);
	errand->chain_options = chain ? i->summary.options : 0;
	errand->decision = i->decision;
	errand->note = intercept_note(i);
	errand->received_ns = s->thread.received_ns;
	if (send_it(s, c, errand))
		return STREAM_GO_ON;
	next = put_failure(s, c, errand);
	errand_free(errand);
	return next;
}

/* The answer as the forwarding thread has it, unless a rule denies a name of it. */
static enum stream_next
put_answer(struct stream *s, struct stream_connection *c,
    const struct errand *errand)
{
	const struct policy_answer answer = { errand->answer,
		errand->answer_length, is_chain(errand) ?
		wire_load_u16(errand->chase.chain + 6) : 0 };
	enum stream_next next;
	uint8_t *room;

	if (stream_deny(s, c, errand, &answer, &next))
		return next;
	if (stream_reserve(s, c, STREAM_FRAME_MAX, &room) == STREAM_CLOSE) {
		record_end(s, c, errand);
		return STREAM_CLOSE;
	}
	memcpy(room + STREAM_PREFIX, errand->answer, errand->answer_length);
	put(s, c, errand, room, errand->answer_length, EDE_NONE);
	return STREAM_GO_ON;
}

enum stream_next
stream_errand_end(struct stream *s, struct stream_connection *c,
    struct errand *errand)
{
	enum stream_next next;

	LIST_REMOVE(errand, in_sender);
	c->errand_count--;
	c->errand_octets -= errand_octets(errand);
	if (errand->end == ERRAND_ANSWERED &&
	    stream_buffer_length(&c->out) < UNREAD_MAX)
		next = put_answer(s, c, errand);
	else if (errand->end == ERRAND_PASSED && !is_chain(errand)) {
		record_end(s, c, errand);
		next = stream_relay_question(s, c, errand->octets,
		    errand->length, false);
	} else
		next = put_failure(s, c, errand);
	return next == STREAM_CLOSE ? STREAM_CLOSE : stream_flush(s, c);
}

void
stream_errands_forget(struct stream *s, struct stream_connection *c)
{
	struct errand *errand;

	while ((errand = LIST_FIRST(&c->errands)) != NULL) {
		record_end(s, c, errand);
		LIST_REMOVE(errand, in_sender);
		errand->of = NULL;
	}
}

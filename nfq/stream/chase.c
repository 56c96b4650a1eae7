/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions whose chain of CNAMEs leaves the table.  A chase keeps the question
 * and the chain while the client's nameserver is asked for the target, and then
 * the answer is put together.
 */
#include "nfq/stream/parts.h"

#include <stdlib.h>
#include <string.h>

#include "resolver/dns/wire.h"

struct stream_chase {
	struct stream_asked asked;
	size_t target;			/* offset in the chain */
	uint16_t options;		/* octets of options in the chain's OPT */
	size_t question_length, chain_length;
	uint8_t octets[];		/* the client's message, then the chain */
};

struct stream_chase *
stream_chase_new(const struct interception *i, const uint8_t *question,
    size_t length, uint64_t received_ns)
{
	struct stream_chase *chase = malloc(sizeof(*chase) + length +
	    i->answer_length);

	if (chase == NULL)
		return NULL;
	chase->asked = (struct stream_asked){ i->decision, intercept_note(i),
	    received_ns };
	chase->target = i->summary.target;
	chase->options = i->summary.options;
	chase->question_length = length;
	chase->chain_length = i->answer_length;
	memcpy(chase->octets, question, length);
	memcpy(chase->octets + length, i->answer, i->answer_length);
	return chase;
}

void
stream_chase_free(struct stream_chase *chase)
{
	free(chase);
}

size_t
stream_chase_octets(const struct stream_chase *chase)
{
	return chase->question_length + chase->chain_length;
}

/* The client's question, and the view of the chain for chase.h. */
static struct chase
view_of(const struct stream_chase *chase, struct question *asked)
{
	question_parse(asked, chase->octets, chase->question_length);
	return (struct chase){
		.chain = chase->octets + chase->question_length,
		.length = chase->chain_length,
		.target = chase->target,
		.opt = chase_opt(asked->edns.present, chase->options),
	};
}

uint16_t
stream_chase_id(const struct stream_chase *chase)
{
	return wire_load_u16(chase->octets);
}

size_t
stream_chase_question(const struct stream_chase *chase, uint16_t id,
    uint8_t buf[static CHASE_QUESTION_MAX])
{
	struct question asked;
	const struct chase view = view_of(chase, &asked);

	return chase_question(&view, &asked, id, buf);
}

/* Finishes the answer in the reserved room, and records it. */
static void
put(struct stream *s, struct stream_connection *c,
    const struct stream_chase *chase, const struct question *asked,
    uint8_t *room, size_t length, enum extended_error error)
{
	struct decision decision = chase->asked.decision;
	const uint8_t *answer = room + STREAM_PREFIX;

	if (error != EDE_NONE) {
		decision.verdict = VERDICT_REFUSE;
		stream_count(s, STREAM_UNREACHABLE);
	}
	length = stream_put_answer(s, room, length, &asked->edns, error,
	    chase->options);
	if (error == EDE_NONE)
		decision.verdict = decide_verdict_of(answer, length);
	decision.rcode = answer[3] & 0xf;
	stream_record(s, c, &(struct stream_record){
	    .decision = &decision, .question = chase->octets,
	    .question_length = chase->question_length, .answer = answer,
	    .answer_length = length, .received_ns = chase->asked.received_ns,
	    .note = chase->asked.note });
}

enum stream_next
stream_put_chase_failure(struct stream *s, struct stream_connection *c,
    const struct stream_chase *chase, enum extended_error error)
{
	struct question asked;
	const struct chase view = view_of(chase, &asked);
	uint8_t *room;

	if (stream_reserve(s, c, STREAM_FRAME_MAX, &room) == STREAM_CLOSE)
		return STREAM_CLOSE;
	put(s, c, chase, &asked, room, chase_fail(&view, room + STREAM_PREFIX),
	    error);
	return STREAM_GO_ON;
}

enum stream_next
stream_put_chase(struct stream *s, struct stream_connection *c,
    const struct stream_chase *chase, const uint8_t *message, size_t length)
{
	struct question asked;
	const struct chase view = view_of(chase, &asked);
	enum stream_next next;
	uint8_t *room;
	size_t joined;

	if (stream_reserve(s, c, STREAM_FRAME_MAX, &room) == STREAM_CLOSE)
		return STREAM_CLOSE;
	if (chase_join(&view, message, length, room + STREAM_PREFIX,
	    stream_answer_room(&asked.edns), &joined) < 0)
		return stream_put_chase_failure(s, c, chase,
		    EDE_NETWORK_ERROR);
	if (stream_deny(s, c, &(struct stream_judged){
	    .question = chase->octets,
	    .question_length = chase->question_length,
	    .asked = &chase->asked,
	    .answer = { room + STREAM_PREFIX, joined,
	    wire_load_u16(view.chain + 6) } }, &next))
		return next;
	put(s, c, chase, &asked, room, joined, EDE_NONE);
	return STREAM_GO_ON;
}

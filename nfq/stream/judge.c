/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers of others before the client gets them: rules judge their names. */
#include "nfq/stream/options.h"
#include "nfq/stream/parts.h"
#include "resolver/dns/wire.h"

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

bool
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
	if (!intercept_judge(&i, &source, answer, &(struct reply_room){
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

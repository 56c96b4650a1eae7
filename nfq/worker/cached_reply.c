/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/worker/worker.h"

#include "nfq/ask/cached_answer.h"
#include "resolver/clock.h"
#include "resolver/dns/message.h"

int
cached_reply(struct interception *i, const struct answer_source *source,
    struct cache *cache, uint8_t reply[static INTERCEPT_REPLY_MAX],
    bool *absent)
{
	const struct reply_room room = reply_room_of_packet(reply);
	const uint16_t rule = i->decision.rule;
	struct cached_ask ask;
	size_t offset, length;

	if (i->decision.reason != REASON_FORWARD)
		return -1;
	offset = packet_reply_offset(&i->packet);
	ask = (struct cached_ask){
		.message = i->packet.payload,
		.length = i->packet.payload_length,
		.question = &i->question,
		.domain = i->domain,
	};
	length = cached_answer(cache, i->forward, monotime_boot(), &ask,
	    reply + offset, INTERCEPT_REPLY_MAX - offset);
	*absent = ask.absent;
	if (length == 0)
		return -1;
	if (intercept_judge(i, source, &(struct policy_answer){
	    reply + offset, length, 0 }, &room))
		return (int)ask.domain;
	i->answer = reply + offset;
	i->answer_length = length;
	i->reply_length = packet_reply(&i->packet, reply, length);
	i->decision = decide_cached(i->answer, length);
	i->decision.rule = rule;
	return (int)ask.domain;
}

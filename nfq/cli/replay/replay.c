/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/replay/replay.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "resolver/dns/message.h"
#include "resolver/dns/wire.h"

#define TCP_HEADER	20	/* without options */
#define FRAME		2	/* octets of a length, RFC 7766 section 8 */
#define RATE_BITS	16

/* One configuration, and what it made of the question in hand. */
struct side {
	struct answer_source source;
	const struct forward_settings *forward;	/* NULL: none */
	struct rules *rules;			/* NULL: none */
	struct policy_source policy;		/* these, and rates of its own */
	struct policy_note note;		/* of the question in hand */
	struct interception in;
	uint8_t answer[INTERCEPT_STREAM_MAX];	/* or the reply's packet */
};

struct replay {
	uid_t uid;
	gid_t gid;
	const struct capture_packet *packet;
	struct packet view;			/* of its addresses */
	bool stream;
	bool waiting;				/* a question over UDP */
	struct wire_reader segment;		/* the rest of the data */
	uint32_t rotation;
	size_t count;
	struct side sides[REPLAY_SIDES];
};

/* The image's rules; rates are taken at the times of the capture. */
static bool
open_rules(struct side *side, const struct table *table)
{
	static const uint8_t secret[RATE_SECRET];	/* nobody attacks a file */
	const char *why;
	size_t size;
	const uint8_t *octets = table_policy(table, &size);

	if (rules_open(&side->rules, octets, size, &why) < 0)
		return false;
	if (side->rules == NULL)
		return true;
	side->policy = (struct policy_source){ .rules = side->rules,
		.rates = rate_new(RATE_BITS, secret) };
	return side->policy.rates != NULL;
}

struct replay *
replay_new(const struct replay_side *sides, size_t count, uid_t uid, gid_t gid)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	if (replay == NULL)
		return NULL;
	replay->uid = uid;
	replay->gid = gid;
	replay->count = count < REPLAY_SIDES ? count : REPLAY_SIDES;
	for (size_t i = 0; i < replay->count; i++) {
		const struct settings *s = sides[i].settings;

		replay->sides[i].source = answer_source(sides[i].table,
		    &s->answers);
		if (s->forward.domains > 0 || s->forward.chase != 0)
			replay->sides[i].forward = &s->forward;
		if (!open_rules(&replay->sides[i], sides[i].table)) {
			replay_free(replay);
			return NULL;
		}
	}
	return replay;
}

void
replay_free(struct replay *replay)
{
	for (size_t i = 0; replay != NULL && i < replay->count; i++) {
		rate_free(replay->sides[i].policy.rates);
		rules_close(replay->sides[i].rules);
	}
	free(replay);
}

/* The data of a TCP segment, behind its header (RFC 9293 section 3.1). */
static enum replay_content
read_segment(struct replay *replay)
{
	const struct packet *view = &replay->view;
	struct wire_reader r = wire_reader_over(view->octets,
	    replay->packet->length);
	const uint8_t *header;

	wire_skip(&r, view->ip_header);
	header = wire_read_octets(&r, TCP_HEADER);
	if (header == NULL || view->destination_port != DNS_PORT)
		return REPLAY_OTHER;
	wire_skip(&r, (header[12] >> 4) * 4U - TCP_HEADER);
	replay->segment = r;
	replay->stream = true;
	return wire_left(&r) > 0 ? REPLAY_QUESTIONS : REPLAY_CONNECTION;
}

enum replay_content
replay_read(struct replay *replay, const struct capture_packet *packet)
{
	enum packet_form form;

	replay->packet = packet;
	replay->stream = false;
	replay->waiting = false;
	if (packet->octets == NULL)
		return REPLAY_NO_IP;
	if (packet->length != packet->whole_length)
		return REPLAY_OTHER;
	replay->view.protocol = 0;
	form = packet_parse(&replay->view, packet->octets, packet->length,
	    packet->whole_length);
	if (form == PACKET_OK)
		replay->waiting = true;
	else if (replay->view.protocol == IPPROTO_TCP &&
	    (form == PACKET_STREAM || form == PACKET_NOT_UDP))
		return read_segment(replay);
	return replay->waiting ? REPLAY_QUESTIONS : REPLAY_OTHER;
}

static void
set_asker(const struct replay *replay, struct asker *asker)
{
	*asker = (struct asker){
		.now = { .ns = (int64_t)replay->packet->time_ns },
		.uid = replay->uid,
		.gid = replay->gid,
		.family = replay->view.family,
		.protocol = replay->view.protocol,
		.port = replay->view.source_port,
		.address = replay->view.source,
		.nameserver = replay->view.destination,
		.time = (int64_t)(replay->packet->time_ns / 1000000000),
	};
}

static void
set_record(const struct replay *replay, struct side *side,
    const uint8_t *question, size_t length, struct audit_record *record)
{
	const struct packet *view = &replay->view;
	const struct decision *decision = &side->in.decision;
	const size_t octets = view->family == AF_INET ? 4 : 16;

	side->note = intercept_note(&side->in);
	*record = (struct audit_record){
		.time_ns = replay->packet->time_ns,
		.packet_id = UINT32_MAX,
		.uid = replay->uid,
		.gid = replay->gid,
		.client_port = view->source_port,
		.server_port = view->destination_port,
		.stream = replay->stream,
		.family = view->family,
		.verdict = decision->verdict,
		.reason = decision->reason,
		.rcode = decision->rcode,
		.question_length = (uint16_t)length,
		.answer_length = (uint16_t)side->in.answer_length,
		.question = question,
		.answer = side->in.answer,
		.rule = side->note.rule.text,
		.rule_length = side->note.rule.length,
		.observer = side->note.observer.text,
		.observer_length = side->note.observer.length,
		.judged = side->note.judged,
		.judged_length = side->note.judged_length,
		.would = (uint8_t)side->note.would,
	};
	memcpy(record->client, view->source, octets);
	memcpy(record->server, view->destination, octets);
}

static void
decide_packet(const struct replay *replay, struct side *side)
{
	const struct capture_packet *packet = replay->packet;

	set_asker(replay, &side->in.asker);
	side->in.forward = side->forward;
	side->in.forward_full = false;
	side->in.policy = side->rules != NULL ? &side->policy : NULL;
	intercept_parse(&side->in, packet->octets, packet->length,
	    packet->whole_length);
	intercept_answer(&side->in, &side->source, replay->rotation,
	    side->answer);
}

static void
decide_message(const struct replay *replay, struct side *side,
    const uint8_t *message, size_t length)
{
	set_asker(replay, &side->in.asker);
	side->in.forward = NULL;
	side->in.policy = side->rules != NULL ? &side->policy : NULL;
	intercept_stream(&side->in, &side->source, message, length,
	    replay->rotation, side->answer, sizeof(side->answer));
	if (side->forward == NULL || !decide_is_for_others(&side->in.decision) ||
	    forward_settings_domain(side->forward, &side->in.question.name) < 0)
		return;
	side->in.decision.verdict = VERDICT_FORWARD;
	side->in.decision.reason = REASON_FORWARD;
}

/* The next message of the segment; NULL: none that is whole. */
static const uint8_t *
next_message(struct replay *replay, size_t *length)
{
	struct wire_reader *r = &replay->segment;

	if (wire_left(r) < FRAME)
		return NULL;
	*length = wire_read_u16(r);
	return wire_read_octets(r, *length);
}

bool
replay_decide(struct replay *replay, struct audit_record *record)
{
	const uint8_t *question = replay->view.payload;
	size_t length = replay->view.payload_length;

	if (replay->stream)
		question = next_message(replay, &length);
	else if (!replay->waiting)
		return false;
	replay->waiting = false;
	if (question == NULL)
		return false;
	for (size_t i = 0; i < replay->count; i++) {
		struct side *side = &replay->sides[i];

		if (replay->stream)
			decide_message(replay, side, question, length);
		else
			decide_packet(replay, side);
		set_record(replay, side, question, length, &record[i]);
	}
	replay->rotation++;
	return true;
}

/* Over TCP, a chain that leaves the table is always followed. */
static bool
is_unjudged(const struct replay *replay, const struct side *side)
{
	const struct decision *d = &side->in.decision;

	return side->rules != NULL && (d->verdict == VERDICT_FORWARD ||
	    (replay->stream && d->content == ANSWER_CHAIN)) &&
	    rules_could_deny(side->rules, &side->in.asker);
}

bool
replay_is_unjudged(const struct replay *replay)
{
	for (size_t i = 0; i < replay->count; i++)
		if (is_unjudged(replay, &replay->sides[i]))
			return true;
	return false;
}

bool
replay_is_same(const struct audit_record *a, const struct audit_record *b)
{
	return a->verdict == b->verdict && a->reason == b->reason &&
	    a->rcode == b->rcode && a->answer_length == b->answer_length &&
	    (a->answer_length == 0 ||
	    memcmp(a->answer, b->answer, a->answer_length) == 0);
}

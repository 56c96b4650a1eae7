/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/explain/explain.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "policy/match/policy_gather.h"
#include "resolver/dns/message.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define CLIENT_PORT	40000
#define UDP_HEADER	8

struct explanation *
explain_new(void)
{
	return malloc(sizeof(struct explanation));
}

void
explain_free(struct explanation *e)
{
	free(e);
}

struct walk_packet
explain_packet(const struct explain_question *question)
{
	struct walk_packet packet = {
		.family = question->family,
		.protocol = question->stream ? IPPROTO_TCP : IPPROTO_UDP,
		.uid = question->uid, .gid = question->gid,
		.foreign = question->foreign, .in = question->in,
	};

	memcpy(packet.source, question->client, sizeof(packet.source));
	memcpy(packet.destination, question->nameserver,
	    sizeof(packet.destination));
	return packet;
}

enum rules_chain
explain_chain(const struct explain_question *question)
{
	return question->in == NULL ? CHAIN_QUESTION :
	    question->family == AF_INET ? CHAIN_GUESTS4 : CHAIN_GUESTS6;
}

/* As dig(1) writes it: RD, and an OPT.  Returns its length. */
static size_t
write_message(const struct explain_question *question, uint8_t *out,
    size_t size)
{
	struct wire_writer w = wire_writer_over(out, size);

	wire_write_u16(&w, 0);
	wire_write_u16(&w, DNS_FLAG_RD);
	wire_write_u16(&w, 1);
	wire_write_u16(&w, 0);
	wire_write_u16(&w, 0);
	wire_write_u16(&w, 1);
	wire_write_octets(&w, question->name.octets, question->name.length);
	wire_write_u16(&w, question->type);
	wire_write_u16(&w, CLASS_IN);
	wire_write_u8(&w, 0);
	wire_write_u16(&w, TYPE_OPT);
	wire_write_u16(&w, EXPLAIN_EDNS);
	wire_write_octets(&w, "\0\0\0\0\0\0", 6);
	return wire_written(&w);
}

/* The packet around a message.  Returns its length. */
static size_t
write_packet(const struct explain_question *question, const uint8_t *message,
    size_t length, uint8_t *out, size_t size)
{
	struct wire_writer w = wire_writer_over(out, size);
	const uint16_t udp = (uint16_t)(UDP_HEADER + length);

	if (question->family == AF_INET) {
		wire_write_octets(&w, "\x45\0", 2);
		wire_write_u16(&w, (uint16_t)(20 + udp));
		wire_write_octets(&w, "\0\0\0\0\x40\x11\0\0", 8);
		wire_write_octets(&w, question->client, 4);
		wire_write_octets(&w, question->nameserver, 4);
	} else {
		wire_write_octets(&w, "\x60\0\0\0", 4);
		wire_write_u16(&w, udp);
		wire_write_octets(&w, "\x11\x40", 2);
		wire_write_octets(&w, question->client, 16);
		wire_write_octets(&w, question->nameserver, 16);
	}
	wire_write_u16(&w, CLIENT_PORT);
	wire_write_u16(&w, DNS_PORT);
	wire_write_u16(&w, udp);
	wire_write_u16(&w, 0);
	wire_write_octets(&w, message, length);
	return wire_written(&w);
}

static bool
rule_ends(const struct rule *rule)
{
	const enum statement_kind last = rule->statement_count > 0 ?
	    rule->statements[rule->statement_count - 1].kind : STATEMENTS;

	return last == STATEMENT_ACCEPT || last == STATEMENT_DROP ||
	    last == STATEMENT_QUEUE;
}

/* The kernel's part: the first rule that takes the packet whenever it comes. */
static void
walk(struct explanation *e)
{
	struct walk_packet packet = explain_packet(e->question);
	const struct ruleset *set = e->source->rules;
	const struct condition *failed;

	e->rule = NULL;
	for (size_t i = 0; i < set->count && e->rule == NULL; i++) {
		const struct rule *rule = &set->rules[i];

		if (rule->chain != explain_chain(e->question) || walk_rule(set,
		    rule, &packet, &failed) != WALK_YES)
			continue;
		walk_mark(rule, &packet);
		if (rule_ends(rule))
			e->rule = rule;
	}
	e->queued = e->rule != NULL && rule_queues(e->rule);
}

static void
intercept_question(struct explanation *e)
{
	const struct explain_question *q = e->question;
	const struct settings *settings = e->source->settings;
	const struct answer_source source = answer_source(e->source->table,
	    &settings->answers);
	const struct policy_source policy = { .rules = e->source->policy };
	struct interception *in = &e->in;
	struct reply_room room = { e->reply, sizeof(e->reply), true };
	size_t whole;

	in->asker = (struct asker){ .now = monotime_from_ms(1), .uid = q->uid,
		.gid = q->gid, .family = (uint8_t)q->family,
		.protocol = IPPROTO_TCP, .port = CLIENT_PORT,
		.address = q->client, .nameserver = q->nameserver };
	in->policy = policy.rules != NULL ? &policy : NULL;
	in->forward_full = false;
	in->forward = settings->forward.domains > 0 ||
	    settings->forward.chase != 0 ? &settings->forward : NULL;
	in->unanswerable = q->foreign && q->in == NULL;
	in->unowned = false;
	if (q->stream)
		intercept_message(in, e->message, e->message_length);
	else {
		whole = write_packet(q, e->message, e->message_length,
		    e->packet, sizeof(e->packet));
		intercept_parse(in, e->packet, whole, whole);
		room = reply_room_of_packet(e->reply);
	}
	intercept_answer(in, &source, 0, room);
}

/* The facts that rules look at, by the table before any rule changes it. */
static void
set_asked(struct explanation *e)
{
	struct lookup lookup;

	lookup_gather(&lookup, e->source->table, &e->in.question);
	e->asked = (struct rules_question){ .name = &e->in.question.name,
		.type = e->in.question.type, .mesh = policy_is_mesh(&lookup),
		.asker = &e->in.asker };
}

const struct dns_name *
explain_judged(const struct explanation *e)
{
	return e->in.decision.rule != 0 && e->in.found.judged.length > 0 ?
	    &e->in.found.judged : NULL;
}

enum explain_part
explain_rule(const struct explanation *e, unsigned int number,
    struct rules_rule *rule, struct rules_miss *miss)
{
	struct rules_cursor cursor;

	rules_begin(&cursor, e->source->policy, &e->asked);
	rules_get_for(&cursor, number, rule);
	if (e->in.decision.rule != 0 && number > e->in.decision.rule)
		return EXPLAIN_BEHIND;
	if ((number != e->in.decision.rule || explain_judged(e) == NULL) &&
	    !rules_matches(e->source->policy, number, &e->asked, miss))
		return EXPLAIN_MISSED;
	if (rule->log == RULE_LOG_ONLY)
		return EXPLAIN_LOGS;
	if (rule->action == RULE_NOTHING)
		return EXPLAIN_COUNTS;
	return rule->observe ? EXPLAIN_OBSERVES : EXPLAIN_DECIDES;
}

bool
explain_message(const struct explanation *e, struct message *message)
{
	return e->queued && e->in.answer_length > 0 &&
	    message_read(message, e->in.answer, e->in.answer_length);
}

bool
explain_is_forwarded(const struct explanation *e)
{
	return e->in.decision.verdict == VERDICT_FORWARD;
}

/* The name that the records were found under. */
static void
set_found(struct explanation *e)
{
	const struct entry *entry = &e->entry;

	e->found = e->sought;
	if (entry->target_length == 0)
		return;
	if (entry->target_search != NULL)
		memcpy(e->found.octets + entry->target_length,
		    entry->target_search->octets,
		    entry->target_search->length);
	else
		e->found.octets[entry->target_length] = 0;
	if (name_read_lower(&e->found, e->found.octets,
	    sizeof(e->found.octets)) != 0)
		e->found = e->sought;
}

void
explain(struct explanation *e, const struct explain_source *source,
    const struct explain_question *question)
{
	const struct forward_settings *forward = &source->settings->forward;
	int domain;
	struct dns_name to;

	e->source = source;
	e->question = question;
	e->domain = NULL;
	e->message_length = write_message(question, e->message,
	    sizeof(e->message));
	walk(e);
	if (!e->queued)
		return;
	intercept_question(e);
	set_asked(e);
	/* The name that the table is asked for, and its entry. */
	e->sought = e->in.question.name;
	e->rewritten = e->in.decision.rule != 0 && e->in.found.rule.action ==
	    RULE_REWRITE && policy_rewrite(&e->in.found, &e->sought, &to);
	if (e->rewritten)
		e->sought = to;
	table_find(e->source->table, &e->sought, &e->entry);
	set_found(e);
	domain = forward_settings_domain(forward, &e->in.question.name);
	if (domain < 0)
		return;
	e->domain = &forward->domain[domain];
	/* As take_message() in nfq/stream/connection.c does. */
	if (question->stream && decide_is_for_others(&e->in.decision)) {
		e->in.decision.verdict = VERDICT_FORWARD;
		e->in.decision.reason = REASON_FORWARD;
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/packet/intercept.h"

#include <netinet/in.h>
#include <string.h>

#include "policy/match/policy_lookup.h"
#include "resolver/dns/rr.h"
#include "resolver/version.h"

/* DECIDE_CANARY_NAME and INTERCEPT_VERSION_NAME in wire form. */
static const struct dns_name canary_name = {
	.length = 14, .labels = 2, .octets = "\006canary\005nfdns",
};
static const struct dns_name version_name = {
	.length = 15, .labels = 2, .octets = "\007version\005nfdns",
};

/* Sets the decision: the packet passes, for this reason. */
static void
pass(struct interception *out, enum reason reason)
{
	out->decision = (struct decision){
		.verdict = VERDICT_PASS,
		.reason = reason,
	};
}

static bool
is_text_question(const struct question *question)
{
	return question->form == QUESTION_CHAOS &&
	    (question->type == TYPE_TXT || question->type == TYPE_ANY);
}

/* What the policy says, and what is answered then. */
static void __attribute__((noinline))
gather_policy(struct interception *out, struct facts *facts)
{
	const struct rules_question question = {
		.name = &out->question.name,
		.type = out->question.type,
		.mesh = policy_is_mesh(&out->lookup),
		.absent = facts->loaded &&
		    out->lookup.entry.kind == ENTRY_NONE,
		.asker = &out->asker,
	};

	/* A message over TCP has no packet; its asker is whole. */
	if (out->asker.protocol == IPPROTO_UDP)
		out->asker.nameserver = out->packet.destination;
	policy_gather(out->policy, &question, &out->found);
	if (out->found.ruling.rule == 0)
		return;
	facts->ruling = &out->found.ruling;
	policy_lookup(&out->found, &out->question, &out->lookup);
}

/* Gathers the facts about the question that decide() needs. */
static inline void
gather(struct interception *out, const struct answer_source *source,
    struct facts *facts)
{
	struct question *question = &out->question;

	*facts = (struct facts){
		.question = question,
		.settings = source->settings,
		.asker = &out->asker,
		.loaded = source->loaded,
	};
	if (question->form == QUESTION_PLAIN) {
		lookup_gather(&out->lookup, source->table, question);
		facts->lookup = &out->lookup;
		if (out->policy != NULL)
			gather_policy(out, facts);
	} else if (is_text_question(question)) {
		out->canary = name_equal(&question->name, &canary_name);
		facts->own_name = out->canary ||
		    name_equal(&question->name, &version_name);
	}
}

static bool
has_found(const struct interception *in)
{
	return in->policy != NULL && in->question.form == QUESTION_PLAIN;
}

struct policy_note
intercept_note(const struct interception *in)
{
	const struct policy_found *found = &in->found;
	struct policy_note note = { .would = RULE_NOTHING };

	if (!has_found(in))
		return note;
	note.observer = found->observer;
	note.would = found->would;
	note.is_logged = found->is_logged;
	note.is_not_logged = found->is_not_logged;
	if (in->decision.rule != 0) {
		note.rule.length = found->rule.name_length;
		memcpy(note.rule.text, found->rule.name, note.rule.length);
	}
	return note;
}

bool
intercept_is_recorded(const struct interception *in, bool usual)
{
	if (!has_found(in))
		return usual;
	return !in->found.is_not_logged && (usual || in->found.is_logged);
}

/* Says in the answer which rule it comes from. */
static void __attribute__((noinline))
add_error(const struct interception *out, const struct decision *decision,
    struct answer_plan *plan)
{
	plan->error = decide_error(&out->found.ruling, decision);
	plan->error_text = out->found.rule.name;
	plan->error_length = out->found.rule.name_length;
}

/* Inlined: a copy of it would be the half of its work. */
static inline struct answer_plan __attribute__((always_inline))
make_plan(const struct interception *out, const struct facts *facts,
    uint32_t rotation)
{
	return (struct answer_plan){
	    .question = facts->question,
	    .lookup = facts->lookup,
	    .content = out->decision.content,
	    .rcode = out->decision.rcode,
	    .others = out->others,
	    .settings = facts->settings,
	    .rotation = rotation,
	    .text = "nfdns " NFDNS_VERSION,
	};
}

/* Writes the answer to its place in reply, then the headers before it. */
static void
act(struct interception *out, const struct facts *facts, uint32_t rotation,
    uint8_t reply[static INTERCEPT_REPLY_MAX])
{
	struct answer_plan plan = make_plan(out, facts, rotation);
	uint8_t *answer = reply + packet_reply_offset(&out->packet);

	if (__builtin_expect(out->decision.rule != 0, 0))
		add_error(out, &out->decision, &plan);
	out->answer_length = answer_build(&plan, answer, ANSWER_UDP_MAX,
	    &out->summary);
	out->answer = answer;
	out->reply_length = packet_reply(&out->packet, reply,
	    out->answer_length);
}

static void
begin(struct interception *out)
{
	out->canary = out->others = false;
	out->answer = NULL;
	out->answer_length = 0;
	out->reply_length = 0;
}

static bool
is_answered(const struct interception *out)
{
	return out->decision.verdict != VERDICT_PASS &&
	    out->decision.verdict != VERDICT_DROP &&
	    out->decision.verdict != VERDICT_FORWARD;
}

static const enum forwarding forwarding_full[FULL_WAYS] = {
	[FULL_REFUSED] = FORWARDING_FULL_REFUSED,
	[FULL_SERVFAIL] = FORWARDING_FULL_SERVFAIL,
	[FULL_PASS] = FORWARDING_FULL_PASS,
};

/* What the question's domain says. */
static enum forwarding
forwarding_of(struct interception *out)
{
	const struct forward_settings *f = out->forward;
	const int domain = forward_settings_domain(f, &out->question.name);

	if (domain < 0)
		return FORWARDING_NONE;
	out->domain = (uint32_t)domain;
	return out->forward_full ?
	    forwarding_full[f->domain[domain].full] : FORWARDING_ASK;
}

/* Names of the mesh never get here, so they do not pay for the domains. */
static void
forward(struct interception *out, const struct facts *facts)
{
	const uint16_t rule = out->decision.rule;

	if (decide_is_for_others(&out->decision)) {
		const enum forwarding forwarding = forwarding_of(out);

		out->others = forwarding != FORWARDING_NONE;
		if (out->others)
			out->decision = decide_forwarding(facts, forwarding);
	} else if (out->forward->chase != 0 && !out->forward_full &&
	    decide_leaves_table(facts, &out->decision))
		out->decision = decide_chase(&out->decision);
	out->decision.rule = rule;
}

void
intercept_parse(struct interception *out, const uint8_t *octets, size_t length,
    size_t whole_length)
{
	out->packet.family = 0;
	out->form = PACKET_MALFORMED;
	if (length == whole_length)
		out->form = packet_parse(&out->packet, octets, length);
	if (out->form != PACKET_OK)
		return;
	out->asker.family = out->packet.family;
	out->asker.protocol = out->packet.protocol;
	out->asker.port = out->packet.source_port;
	out->asker.address = out->packet.source;
	question_parse(&out->question, out->packet.payload,
	    out->packet.payload_length);
}

void
intercept_unread(struct interception *out)
{
	out->packet.family = 0;
	out->form = PACKET_UNREAD;
}

void
intercept_fetch(const struct interception *in, const struct table *table,
    enum table_part part)
{
	if (in->form == PACKET_OK && in->question.form == QUESTION_PLAIN)
		table_fetch(table, &in->question.name, part);
}

void
intercept_answer(struct interception *out, const struct answer_source *source,
    uint32_t rotation, uint8_t reply[static INTERCEPT_REPLY_MAX])
{
	struct facts facts;

	begin(out);
	if (out->form != PACKET_OK) {
		/* A connection has no question yet. */
		pass(out, out->form == PACKET_STREAM ? REASON_NO_QUESTION :
		    out->form == PACKET_UNREAD ? REASON_SUSPECT :
		    REASON_MALFORMED);
		return;
	}
	gather(out, source, &facts);
	out->decision = decide(&facts);
	if (out->forward != NULL)
		forward(out, &facts);
	if (is_answered(out))
		act(out, &facts, rotation, reply);
}

/* Of another decision instead: what answer_build() needs besides it. */
static struct facts
begin_again(struct interception *out, const struct answer_source *source)
{
	out->answer = NULL;
	out->answer_length = 0;
	out->reply_length = 0;
	return (struct facts){ .question = &out->question,
		.settings = source->settings, .asker = &out->asker,
		.loaded = source->loaded };
}

static struct facts
unrecorded(struct interception *out, const struct answer_source *source)
{
	out->decision = decide_unrecorded(out->question.wire_length > 0);
	return begin_again(out, source);
}

void
intercept_refuse(struct interception *out, const struct answer_source *source,
    uint8_t reply[static INTERCEPT_REPLY_MAX])
{
	const struct facts facts = unrecorded(out, source);

	if (is_answered(out))
		act(out, &facts, 0, reply);
}

bool
intercept_chain(struct interception *out, const struct answer_source *source,
    uint8_t *buf, size_t size)
{
	struct answer_plan plan;
	struct decision decision;
	struct facts facts;

	gather(out, source, &facts);
	plan = make_plan(out, &facts, 0);
	plan.stream = true;
	if (facts.ruling != NULL) {
		/* out->decision is to ask for the chain's end. */
		decision = decide(&facts);
		add_error(out, &decision, &plan);
	}
	out->answer_length = answer_build(&plan, buf, size, &out->summary);
	out->answer = buf;
	return !out->summary.truncated;
}

void
intercept(struct interception *out, const struct answer_source *source,
    const uint8_t *octets, size_t length, size_t whole_length,
    uint32_t rotation, uint8_t reply[static INTERCEPT_REPLY_MAX])
{
	out->asker.uid = (uid_t)-1;
	out->asker.gid = (gid_t)-1;
	out->asker.device = 0;
	out->asker.now = MONOTIME_NEVER;
	out->forward = NULL;
	intercept_parse(out, octets, length, whole_length);
	intercept_answer(out, source, rotation, reply);
}

void
intercept_stream(struct interception *out, const struct answer_source *source,
    const uint8_t *message, size_t length, uint32_t rotation, uint8_t *answer,
    size_t size)
{
	struct answer_plan plan;
	struct facts facts;

	begin(out);
	question_parse(&out->question, message, length);
	gather(out, source, &facts);
	out->decision = decide(&facts);
	if (!is_answered(out))
		return;
	plan = make_plan(out, &facts, rotation);
	if (out->decision.rule != 0)
		add_error(out, &out->decision, &plan);
	plan.stream = true;
	out->answer_length = answer_build(&plan, answer, size, &out->summary);
	out->answer = answer;
}

/* Writes what was decided instead, without records. */
static void
act_stream(struct interception *out, const struct facts *facts,
    uint8_t *answer, size_t size)
{
	struct answer_plan plan;

	if (!is_answered(out))
		return;
	plan = make_plan(out, facts, 0);
	plan.stream = true;
	out->answer_length = answer_build(&plan, answer, size, &out->summary);
	out->answer = answer;
}

void
intercept_full_stream(struct interception *out,
    const struct answer_source *source, enum forward_full full,
    uint8_t *answer, size_t size)
{
	const struct facts facts = begin_again(out, source);
	const uint16_t rule = out->decision.rule;

	out->others = true;
	out->decision = decide_forwarding(&facts, forwarding_full[full]);
	out->decision.rule = rule;
	act_stream(out, &facts, answer, size);
}

void
intercept_refuse_stream(struct interception *out,
    const struct answer_source *source, uint8_t *answer, size_t size)
{
	const struct facts facts = unrecorded(out, source);

	act_stream(out, &facts, answer, size);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/packet/intercept.h"

#include <netinet/in.h>
#include <string.h>

#include "policy/match/policy_gather.h"
#include "resolver/dns/rr.h"
#include "resolver/version.h"

/* DECIDE_CANARY_NAME and INTERCEPT_VERSION_NAME in wire form. */
static const struct dns_name canary_name = {
	.length = 14, .labels = 2, .octets = "\006canary\005nfdns",
};
static const struct dns_name version_name = {
	.length = 15, .labels = 2, .octets = "\007version\005nfdns",
};

/* What rules for more names have noted; that of those before them stays. */
static void
add_notes(struct policy_found *to, const struct policy_found *from)
{
	to->is_logged |= from->is_logged;
	if (to->observed != 0)
		return;
	to->observed = from->observed;
	to->observed_limited = from->observed_limited;
	to->observer = from->observer;
	to->would = from->would;
}

/* Another rule decides instead. */
static void
take_ruling(struct policy_found *to, const struct policy_found *from)
{
	to->ruling = from->ruling;
	to->rule = from->rule;
	to->judged = from->judged;
	to->is_not_logged = from->is_not_logged;
}

/* What rules look at; the lookup is the question's own. */
static inline struct rules_question
rules_question_of(struct interception *out)
{
	/* A message over TCP has no packet; its asker is whole. */
	if (out->asker.protocol == IPPROTO_UDP)
		out->asker.nameserver = out->packet.destination;
	return (struct rules_question){
		.name = &out->question.name,
		.type = out->question.type,
		.mesh = policy_is_mesh(&out->lookup),
		.asker = &out->asker,
	};
}

/* The rules, for the name asked and those that the table answers it from. */
static void __attribute__((noinline))
gather_names(struct interception *out, const struct rules_question *question)
{
	struct policy_names names;

	names.count = 0;
	policy_names_collect(&names, &out->question, &out->lookup);
	policy_gather_names(out->policy, question, &names, POLICY_WITH_ASKED,
	    0, &out->found);
}

/* The names that the table has the rule's answer from. */
static void __attribute__((noinline))
gather_of_rule(struct interception *out, const struct rules_question *question)
{
	struct policy_found found;
	struct policy_names names;
	struct dns_name to;

	names.count = 0;
	if (out->found.ruling.action == RULE_REWRITE &&
	    policy_rewrite(&out->found, &out->question.name, &to))
		policy_names_add(&names, out->lookup.table, &to);
	policy_names_add_chain(&names, &out->lookup);
	policy_gather_names(out->policy, question, &names, POLICY_OF_RULE,
	    out->found.ruling.rule, &found);
	add_notes(&out->found, &found);
	if (found.ruling.rule == 0)
		return;
	take_ruling(&out->found, &found);
	policy_lookup(&out->found, &out->question, &out->lookup);
}

/* What the policy says, and what is answered then. */
static void __attribute__((noinline))
gather_policy(struct interception *out, struct facts *facts)
{
	const struct rules_question question = rules_question_of(out);
	enum rule_action action;

	if (policy_names_may_be(&out->lookup))
		gather_names(out, &question);
	else
		policy_gather(out->policy, &question, &out->found);
	out->judged = true;
	if (out->found.ruling.rule == 0)
		return;
	facts->ruling = &out->found.ruling;
	if (out->question.form != QUESTION_PLAIN)
		return;
	policy_lookup(&out->found, &out->question, &out->lookup);
	action = out->found.ruling.action;
	if (action == RULE_CNAME || action == RULE_CNAME_BELOW ||
	    action == RULE_REWRITE)
		gather_of_rule(out, &question);
}

/* Whether a rule could deny somebody whose question nobody can read. */
static bool
could_deny(const struct interception *out, const struct answer_source *source)
{
	return out->policy != NULL &&
	    source->settings->unreadable == UNREADABLE_DROP &&
	    rules_could_deny(out->policy->rules, &out->asker);
}

/* Of a message that the table does not answer, only the policy says anything. */
static void __attribute__((noinline))
gather_other(struct interception *out, const struct answer_source *source,
    struct facts *facts)
{
	struct question *question = &out->question;

	if (question->form == QUESTION_CHAOS && (question->type == TYPE_TXT ||
	    question->type == TYPE_ANY)) {
		out->canary = name_equal(&question->name, &canary_name);
		facts->own_name = out->canary ||
		    name_equal(&question->name, &version_name);
	}
	if (out->policy == NULL || facts->own_name)
		return;
	if (question->readable) {
		lookup_gather(&out->lookup, source->table, question);
		gather_policy(out, facts);
		facts->unforwardable = out->forward != NULL &&
		    forward_settings_domain(out->forward,
		    &question->name) >= 0 && could_deny(out, source);
	} else
		facts->could_deny = could_deny(out, source);
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
	} else
		gather_other(out, source, facts);
}

struct policy_note
intercept_note(const struct interception *in)
{
	const struct policy_found *found = &in->found;
	struct policy_note note = { .would = RULE_NOTHING };

	if (!in->judged)
		return note;
	note.observer = found->observer;
	note.would = found->would;
	note.is_logged = found->is_logged;
	note.is_not_logged = found->is_not_logged;
	if (in->decision.rule != 0) {
		note.rule.length = found->rule.name_length;
		memcpy(note.rule.text, found->rule.name, note.rule.length);
		note.judged_length = found->judged.length;
		memcpy(note.judged, found->judged.octets, note.judged_length);
	}
	return note;
}

struct policy_note
intercept_note_again(const struct interception *in,
    const struct policy_note *before)
{
	struct policy_note note = intercept_note(in);

	note.is_logged |= before->is_logged;
	if (before->observer.length > 0) {
		note.observer = before->observer;
		note.would = before->would;
	}
	return note;
}

bool
intercept_is_recorded(const struct interception *in, bool usual)
{
	if (!in->judged)
		return usual;
	return !in->found.is_not_logged && (usual || in->found.is_logged);
}

/* Says in the answer which rule it comes from. */
static void __attribute__((noinline))
add_error(const struct interception *out, struct answer_plan *plan)
{
	plan->error = decide_error(&out->found.ruling, &out->decision);
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
	    .bare = out->policy != NULL,
	    .settings = facts->settings,
	    .rotation = rotation,
	    .text = "nfdns " NFDNS_VERSION,
	};
}

/* Writes the answer to its place, then the headers before it. */
static void
act(struct interception *out, const struct facts *facts, uint32_t rotation,
    struct reply_room room)
{
	struct answer_plan plan = make_plan(out, facts, rotation);
	uint8_t *answer = room.octets;

	if (__builtin_expect(out->decision.rule != 0, 0))
		add_error(out, &plan);
	plan.stream = room.stream;
	if (!room.stream)
		answer += packet_reply_offset(&out->packet);
	out->answer_length = answer_build(&plan, answer, room.size,
	    &out->summary);
	out->answer = answer;
	if (!room.stream)
		out->reply_length = packet_reply(&out->packet, room.octets,
		    out->answer_length);
}

static bool
is_answered(const struct interception *out)
{
	return out->decision.verdict != VERDICT_PASS &&
	    out->decision.verdict != VERDICT_DROP &&
	    out->decision.verdict != VERDICT_FORWARD;
}

/* What the question's domain says. */
static enum forwarding
forwarding_of(struct interception *out)
{
	const struct forward_settings *f = out->forward;
	const int domain = forward_settings_domain(f, &out->question.name);

	if (domain < 0)
		return FORWARDING_NONE;
	out->domain = (uint32_t)domain;
	return out->forward_full ? FORWARDING_FULL : FORWARDING_ASK;
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

/*
 * What is known of a packet that is no question, and of its asker.  With a
 * routing header, which any user may send (IPV6_RTHDR), or a source route, the
 * destination is only the next hop: its nameserver is not known.
 */
static void __attribute__((noinline))
set_unread(struct interception *out)
{
	const bool known = out->packet.family != 0;

	if (out->form != PACKET_STREAM)
		out->packet.source_port = out->packet.destination_port = 0;
	out->packet.payload = NULL;
	out->packet.payload_length = 0;
	out->asker.family = out->packet.family;
	out->asker.protocol = 0;
	out->asker.port = 0;
	out->asker.address = known ? out->packet.source : NULL;
	out->asker.nameserver = known && out->form != PACKET_NOT_UDP ?
	    out->packet.destination : NULL;
}

/* A message that is not whole: of use only to the policy. */
static void __attribute__((noinline))
parse_cut(struct interception *out, size_t whole_length)
{
	if (packet_is_cut(&out->packet, whole_length)) {
		out->question.form = QUESTION_MALFORMED;
		out->question.edns.present = false;
	} else {
		out->form = PACKET_MALFORMED;
		set_unread(out);
	}
}

static inline void __attribute__((always_inline))
parse(struct interception *out, const uint8_t *octets, size_t length,
    size_t whole_length)
{
	out->form = packet_parse(&out->packet, octets, length, whole_length);
	if (out->form != PACKET_OK) {
		set_unread(out);
		return;
	}
	out->asker.family = out->packet.family;
	out->asker.protocol = out->packet.protocol;
	out->asker.port = out->packet.source_port;
	out->asker.address = out->packet.source;
	question_parse(&out->question, out->packet.payload,
	    out->packet.payload_length);
	if (__builtin_expect(out->packet.missing != 0, 0))
		parse_cut(out, whole_length);
}

void
intercept_parse(struct interception *out, const uint8_t *octets, size_t length,
    size_t whole_length)
{
	parse(out, octets, length, whole_length);
}

void
intercept_message(struct interception *out, const uint8_t *octets,
    size_t length)
{
	out->form = PACKET_OK;
	question_parse(&out->question, octets, length);
}

void
intercept_untaken(struct interception *out)
{
	out->form = PACKET_UNTAKEN;
	out->asker.protocol = IPPROTO_TCP;
}

void
intercept_fetch(const struct interception *in, const struct table *table,
    enum table_part part)
{
	if (in->form == PACKET_OK && in->question.form == QUESTION_PLAIN)
		table_fetch(table, &in->question.name, part);
}

/* What is no question; a connection that is taken has none yet. */
static struct decision
decide_packet(const struct interception *out, const struct answer_source *source)
{
	if (out->form == PACKET_STREAM)
		return decide_unread(REASON_NO_QUESTION, false);
	return decide_unread(out->form == PACKET_UNTAKEN ? REASON_NO_QUESTION :
	    REASON_MALFORMED, could_deny(out, source));
}

/* What is decided for one of whom too little is known, or that cannot be answered. */
static void __attribute__((noinline))
restrict_to(struct interception *out)
{
	struct decision *d = &out->decision;

	if (out->unowned && out->form != PACKET_STREAM && out->policy != NULL &&
	    rules_could_deny(out->policy->rules, NULL))
		*d = (struct decision){ .verdict = VERDICT_DROP,
			.reason = REASON_UNJUDGED };
	else if (!out->unanswerable || d->verdict == VERDICT_PASS ||
	    d->verdict == VERDICT_DROP)
		return;
	else if (d->reason == REASON_POLICY || d->reason == REASON_RATE)
		d->verdict = VERDICT_DROP;
	else
		*d = (struct decision){ .verdict = VERDICT_PASS,
			.reason = REASON_UNANSWERABLE };
}

void
intercept_answer(struct interception *out, const struct answer_source *source,
    uint32_t rotation, struct reply_room room)
{
	struct facts facts;

	out->canary = out->others = out->judged = false;
	out->answer = NULL;
	out->answer_length = 0;
	out->reply_length = 0;
	if (out->form != PACKET_OK) {
		out->decision = decide_packet(out, source);
		restrict_to(out);
		return;
	}
	gather(out, source, &facts);
	out->decision = decide(&facts);
	if (out->forward != NULL && !room.stream)
		forward(out, &facts);
	if (__builtin_expect(out->unowned || out->unanswerable, 0))
		restrict_to(out);
	if (is_answered(out))
		act(out, &facts, rotation, room);
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

bool
intercept_chain(struct interception *out, const struct answer_source *source,
    uint8_t *buf, size_t size)
{
	const struct policy_source *policy = out->policy;
	const struct policy_source again = { .rules = policy != NULL ?
	    policy->rules : NULL };
	const struct policy_found found = out->found;
	struct facts facts;

	/* The lookup once more; the rules have counted the question already. */
	out->policy = policy != NULL ? &again : NULL;
	gather(out, source, &facts);
	out->policy = policy;
	if (out->judged)
		out->found = found;
	act(out, &facts, 0, (struct reply_room){ buf, (uint32_t)size, true });
	return !out->summary.truncated;
}

void
intercept(struct interception *out, const struct answer_source *source,
    const uint8_t *octets, size_t length, size_t whole_length,
    uint32_t rotation, uint8_t reply[static INTERCEPT_REPLY_MAX])
{
	struct reply_room room;

	out->asker.uid = (uid_t)-1;
	out->asker.gid = (gid_t)-1;
	out->asker.device = 0;
	out->asker.now = MONOTIME_NEVER;
	out->forward = NULL;
	out->unanswerable = out->unowned = false;
	parse(out, octets, length, whole_length);
	room = reply_room_of_packet(reply);
	intercept_answer(out, source, rotation, room);
}

/* Rules that deny a name of the answer.  False: there is none. */
static bool
is_denied(struct interception *out, const struct answer_source *source,
    const struct policy_answer *given, struct facts *facts)
{
	struct rules_question question;
	struct policy_found found;
	enum policy_judged judged;

	if (out->policy == NULL || out->question.form != QUESTION_PLAIN)
		return false;
	out->judged = true;
	*facts = begin_again(out, source);
	lookup_gather(&out->lookup, source->table, &out->question);
	facts->lookup = &out->lookup;
	question = rules_question_of(out);
	judged = policy_judge_answer(out->policy, &question,
	    out->decision.rule, given, &found);
	if (judged == POLICY_ALLOWED)
		return false;
	out->others = false;
	out->decision = decide_unreadable();
	if (judged == POLICY_UNREADABLE)
		return true;
	add_notes(&out->found, &found);
	take_ruling(&out->found, &found);
	facts->ruling = &out->found.ruling;
	policy_lookup(&out->found, &out->question, &out->lookup);
	out->decision = decide(facts);
	/* What is denied here is not followed out of the table once more. */
	if (out->decision.content == ANSWER_CHAIN)
		out->decision.content = ANSWER_RECORDS;
	return true;
}

bool
intercept_judge(struct interception *out, const struct answer_source *source,
    const struct policy_answer *given, struct reply_room room)
{
	struct facts facts;

	if (!is_denied(out, source, given, &facts))
		return false;
	if (is_answered(out))
		act(out, &facts, 0, room);
	out->decision.reason = REASON_FORWARD_DENIED;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules, in order; the first that applies decides.
 *
 *  1. A message passes if nfdns does not understand it or must not answer it:
 *     responses, other opcodes, no question, other classes, signatures.  Two
 *     questions or two OPTs in one message are FORMERR.  But first the policy
 *     judges it: if some nameserver might find a question in it, a rule that
 *     denies that question denies the message; if none can be read, it is dropped
 *     if a rule could deny its asker something (policy_unreadable).  If so, one for
 *     a name of a forward domain is refused: only PLAIN questions are forwarded, and
 *     rules judge the names of forwarded answers alone.
 *  2. Class CH is answered for our own names, whatever rules say, and as rule 1
 *     says for all others.
 *  3. If a rule of the policy decides, it is done what it says.  Its "answer" is
 *     rules 4 to 11, as if there were no policy; a question that it answers
 *     itself is answered BADVERS if its EDNS version is above 0.
 *  4. Before the first table: pass, or SERVFAIL if so configured.
 *  5. Zone transfers pass.
 *  6. Names that are not the mesh's pass.  In a zone with unknown = "nxdomain",
 *     all names are the mesh's.
 *  7. An EDNS version above 0: BADVERS.
 *  8. Records of the type asked for, or a CNAME: the answer.  If the CNAME's
 *     target is not in the table, stub resolvers take the CNAME for the whole
 *     answer (glibc, musl, Go, Java, node), so TC = 1 makes them ask over TCP,
 *     where the relay asks for the target.  Clients with RD = 0 follow the
 *     CNAME themselves.
 *  9. Names that do not exist, and CNAMEs to such a name: NXDOMAIN.  A question
 *     for the SOA of a zone's apex: the SOA.  Other names without records:
 *     NODATA.
 * 10. An address type that the name lacks: NODATA.
 * 11. Any other type that the name lacks: NODATA if the mesh owns the name.  If
 *     the mesh only overlays a public name, the question passes, but HTTPS and
 *     SVCB are NODATA: their hints lead clients round the mesh.
 *
 * With forwarding, two of these outcomes change: a name that passes (rules 4, 6
 * and 11) and belongs to a forward domain is asked of the domain's upstreams,
 * and a chain that leaves the table (rule 8) is followed to its end.
 */
#include "policy/decide.h"

#include "resolver/dns/message.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

static const char *const verdict_texts[VERDICTS] = {
	[VERDICT_PASS] = "pass",
	[VERDICT_ANSWER] = "answer",
	[VERDICT_NODATA] = "nodata",
	[VERDICT_NXDOMAIN] = "nxdomain",
	[VERDICT_REFUSE] = "refuse",
	[VERDICT_DROP] = "drop",
	[VERDICT_FORWARD] = "forward",
};

static const char *const reason_texts[REASONS] = {
	[REASON_NOT_MESH] = "not-mesh",
	[REASON_MALFORMED] = "malformed",
	[REASON_NOT_QUERY] = "not-query",
	[REASON_NO_QUESTION] = "no-question",
	[REASON_CLASS] = "class",
	[REASON_SIGNED] = "signed",
	[REASON_TRANSFER] = "transfer",
	[REASON_OTHER_TYPE] = "other-type",
	[REASON_UNLOADED] = "unloaded",
	[REASON_MANY_QUESTIONS] = "many-questions",
	[REASON_MANY_OPT] = "many-opt",
	[REASON_EDNS_VERSION] = "edns-version",
	[REASON_RECORD] = "record",
	[REASON_WILDCARD] = "wildcard",
	[REASON_SEARCH] = "search",
	[REASON_ADDRESS_TYPE] = "address-type",
	[REASON_OWNED_TYPE] = "owned-type",
	[REASON_SUPPRESSED] = "suppressed",
	[REASON_EMPTY_NAME] = "empty-name",
	[REASON_ZONE_SOA] = "zone-soa",
	[REASON_UNKNOWN_NAME] = "unknown-name",
	[REASON_OWN_NAME] = "own-name",
	[REASON_UNREACHABLE] = "unreachable",
	[REASON_FORWARD] = "forward",
	[REASON_CHASE] = "chase",
	[REASON_FORWARD_FULL] = "forward-full",
	[REASON_FORWARD_DENIED] = "forward-denied",
	[REASON_CACHE] = "cache",
	[REASON_POLICY] = "policy",
	[REASON_RATE] = "rate",
	[REASON_UNANSWERABLE] = "unanswerable",
	[REASON_UNJUDGED] = "unjudged",
	[REASON_UNREADABLE] = "unreadable",
};

const char *
decide_verdict_text(enum verdict verdict)
{
	return verdict_texts[verdict];
}

const char *
decide_reason_text(enum reason reason)
{
	return reason_texts[reason];
}

const char *
decide_action_text(enum rule_action action)
{
	static const char *const texts[RULE_ACTIONS] = {
		[RULE_ANSWER] = "answer", [RULE_PASS] = "pass",
		[RULE_NXDOMAIN] = "nxdomain", [RULE_NODATA] = "nodata",
		[RULE_REFUSE] = "refuse", [RULE_DROP] = "drop",
		[RULE_ADDRESSES] = "addresses", [RULE_CNAME] = "cname",
		[RULE_CNAME_BELOW] = "cname", [RULE_RECORDS] = "records",
		[RULE_REWRITE] = "rewrite", [RULE_FILTER] = "filter",
		[RULE_TCP_ONLY] = "tcp-only",
		[RULE_NOTHING] = "nothing",
	};

	return texts[action];
}

static struct decision
pass(enum reason reason)
{
	return (struct decision){ VERDICT_PASS, reason, ANSWER_EMPTY,
		RCODE_NOERROR, 0 };
}

static struct decision
answer(enum reason reason, enum answer_content content)
{
	return (struct decision){ VERDICT_ANSWER, reason, content,
		RCODE_NOERROR, 0 };
}

static struct decision
nodata(enum reason reason)
{
	return (struct decision){ VERDICT_NODATA, reason, ANSWER_NEGATIVE,
		RCODE_NOERROR, 0 };
}

static struct decision
nxdomain(enum reason reason)
{
	return (struct decision){ VERDICT_NXDOMAIN, reason, ANSWER_NEGATIVE,
		RCODE_NXDOMAIN, 0 };
}

static struct decision
refuse(enum reason reason, enum rcode rcode)
{
	return (struct decision){ VERDICT_REFUSE, reason, ANSWER_EMPTY,
		(uint16_t)rcode, 0 };
}

static struct decision
drop(enum reason reason)
{
	return (struct decision){ .verdict = VERDICT_DROP, .reason = reason,
		.content = ANSWER_EMPTY };
}

/*
 * Whether the mesh answers for the name.  In a zone with unknown = "pass", a
 * name without records counts as unknown: the real nameserver may have records.
 */
static bool
is_mesh_name(const struct entry *entry)
{
	if (entry->kind == ENTRY_NONE || entry->kind == ENTRY_EMPTY)
		return entry->in_zone && entry->unknown == ZONE_NXDOMAIN;
	return true;
}

static bool
is_zone_apex(const struct facts *facts)
{
	const struct entry *entry = &facts->lookup->entry;

	return entry->in_zone &&
	    entry->zone_labels == facts->question->name.labels;
}

static enum reason
found_reason(enum entry_kind kind)
{
	switch (kind) {
	case ENTRY_WILDCARD:
		return REASON_WILDCARD;
	case ENTRY_SEARCH:
	case ENTRY_SEARCH_WILDCARD:
		return REASON_SEARCH;
	default:
		return REASON_RECORD;
	}
}

/* Rule 8: a chain that leaves the table. */
static enum answer_content
chain_content(const struct facts *facts)
{
	return facts->settings->tcp &&
	    (facts->question->flags & QUESTION_RD) ?
	    ANSWER_CHAIN : ANSWER_RECORDS;
}

/* Rules 10 and 11: the table has the name, but not this type. */
static struct decision
decide_lacking(const struct facts *facts)
{
	const struct entry *entry = &facts->lookup->entry;
	uint16_t type = facts->question->type;

	if (type == TYPE_A || type == TYPE_AAAA)
		return nodata(REASON_ADDRESS_TYPE);
	if ((entry->flags & NAME_OWNED) || entry->in_zone)
		return nodata(REASON_OWNED_TYPE);
	if ((type == TYPE_HTTPS || type == TYPE_SVCB) &&
	    facts->settings->suppress_https)
		return nodata(REASON_SUPPRESSED);
	return pass(REASON_OTHER_TYPE);
}

/* Rules 6 to 11: a question in class IN, with a table loaded. */
static inline struct decision __attribute__((always_inline))
decide_name(const struct facts *facts)
{
	const struct question *question = facts->question;
	const struct lookup *lookup = facts->lookup;
	const struct entry *entry = &lookup->entry;

	if (!is_mesh_name(entry))
		return pass(REASON_NOT_MESH);
	if (question->edns.present && question->edns.version > 0)
		return refuse(REASON_EDNS_VERSION, RCODE_BADVERS);
	if (lookup->has_type)
		return answer(found_reason(entry->kind), ANSWER_RECORDS);
	if (lookup->leaves_table)
		return answer(found_reason(entry->kind), chain_content(facts));
	if (entry->kind == ENTRY_NONE || lookup->target_unknown)
		return nxdomain(REASON_UNKNOWN_NAME);
	if (question->type == TYPE_SOA && is_zone_apex(facts))
		return answer(REASON_ZONE_SOA, ANSWER_SOA);
	if (entry->kind == ENTRY_EMPTY)
		return nodata(REASON_EMPTY_NAME);
	return decide_lacking(facts);
}

/* In one of our zones the SOA shows which zone fails. */
static struct decision
unloaded(const struct lookup *lookup)
{
	struct decision d = refuse(REASON_UNLOADED, RCODE_SERVFAIL);

	if (lookup->entry.in_zone)
		d.content = ANSWER_NEGATIVE;
	return d;
}

static bool
is_transfer(const struct question *question)
{
	return question->type == TYPE_AXFR || question->type == TYPE_IXFR;
}

/* Rule 4 and those after it.  Inlined for questions without a rule. */
static inline struct decision __attribute__((always_inline))
decide_table(const struct facts *facts)
{
	if (!facts->loaded) {
		return facts->settings->unloaded == UNLOADED_SERVFAIL
			   ? unloaded(facts->lookup)
			   : pass(REASON_UNLOADED);
	}
	if (is_transfer(facts->question))
		return pass(REASON_TRANSFER);
	return decide_name(facts);
}

bool
ruling_filters(const struct ruling *ruling, uint16_t type)
{
	switch (type) {
	case TYPE_A:
		return ruling->only == RULE_ONLY_AAAA;
	case TYPE_AAAA:
		return ruling->only == RULE_ONLY_A;
	case TYPE_HTTPS:
	case TYPE_SVCB:
		return true;
	default:
		return false;
	}
}

/* The records of a fixed answer, or of another name of the table. */
static struct decision
decide_records(const struct facts *facts, enum reason reason)
{
	const struct lookup *lookup = facts->lookup;

	if (lookup->has_type)
		return answer(reason, ANSWER_RECORDS);
	if (lookup->leaves_table)
		return answer(reason, chain_content(facts));
	/* As RFC 6672 section 2.2 has it of DNAME, and unbound and BIND here. */
	if (facts->ruling->action == RULE_CNAME_BELOW &&
	    lookup->chain_length == 0)
		return refuse(reason, RCODE_YXDOMAIN);
	if (lookup->target_unknown || (lookup->entry.kind == ENTRY_NONE &&
	    facts->ruling->action == RULE_REWRITE))
		return nxdomain(reason);
	return nodata(reason);
}

/* What a rule answers itself. */
static struct decision
decide_own(const struct facts *facts, enum reason reason)
{
	if (facts->question->edns.present && facts->question->edns.version > 0)
		return refuse(REASON_EDNS_VERSION, RCODE_BADVERS);
	switch (facts->ruling->action) {
	case RULE_NXDOMAIN:
		return nxdomain(reason);
	case RULE_REFUSE:
		return refuse(reason, RCODE_REFUSED);
	case RULE_NODATA:
	case RULE_FILTER:
		return nodata(reason);
	case RULE_TCP_ONLY:
		return answer(reason, ANSWER_CUT);
	default:
		return decide_records(facts, reason);
	}
}

/* Whether what the rule says is what follows from the table. */
static bool
is_as_without(const struct facts *facts)
{
	const struct ruling *ruling = facts->ruling;

	switch (ruling->action) {
	case RULE_ANSWER:
	case RULE_NOTHING:
		return true;
	case RULE_FILTER:
		return !ruling_filters(ruling, facts->question->type);
	case RULE_REWRITE:
		return !facts->loaded;
	default:
		return false;
	}
}

/* Rule 3. */
static struct decision __attribute__((noinline))
decide_ruled(const struct facts *facts)
{
	const struct ruling *ruling = facts->ruling;
	const enum reason reason = ruling->limited ? REASON_RATE :
	    REASON_POLICY;
	struct decision d;

	if (is_as_without(facts))
		d = decide_table(facts);
	else if (ruling->action == RULE_PASS)
		d = pass(is_transfer(facts->question) ? REASON_TRANSFER :
		    reason);
	else if (ruling->action == RULE_DROP)
		d = drop(reason);
	else
		d = decide_own(facts, reason);
	d.rule = ruling->rule;
	return d;
}

/*
 * What a rule makes of a question that is not PLAIN and that it denies: an answer
 * without records and without OPT, since the question's class or OPT may be
 * anything.  A response is not answered, or two of us would never stop.
 */
static struct decision
decide_denied(const struct facts *facts, enum reason reason)
{
	struct decision d;

	if (facts->question->flags & QUESTION_QR)
		return drop(reason);
	switch (facts->ruling->action) {
	case RULE_DROP:
		return drop(reason);
	case RULE_NXDOMAIN:
		d = nxdomain(reason);
		break;
	case RULE_NODATA:
	case RULE_FILTER:
		d = nodata(reason);
		break;
	case RULE_TCP_ONLY:
		return answer(reason, ANSWER_CUT);
	default:
		d = refuse(reason, RCODE_REFUSED);
	}
	d.content = ANSWER_EMPTY;
	return d;
}

/* Rules 1 and 2, without a policy. */
static struct decision
decide_form(const struct facts *facts)
{
	switch (facts->question->form) {
	case QUESTION_CHAOS:
		return facts->own_name ? answer(REASON_OWN_NAME, ANSWER_TEXT) :
		    pass(REASON_CLASS);
	case QUESTION_MANY:
		return refuse(REASON_MANY_QUESTIONS, RCODE_FORMERR);
	case QUESTION_TWO_OPT:
		return refuse(REASON_MANY_OPT, RCODE_FORMERR);
	case QUESTION_RESPONSE:
	case QUESTION_OPCODE:
		return pass(REASON_NOT_QUERY);
	case QUESTION_NONE:
		return pass(REASON_NO_QUESTION);
	case QUESTION_CLASS:
		return pass(REASON_CLASS);
	case QUESTION_SIGNED:
		return pass(REASON_SIGNED);
	default:
		return pass(REASON_MALFORMED);
	}
}

/* Whether a rule that denies a PLAIN question with such an action denies this. */
static bool
is_denied(const struct facts *facts)
{
	const struct ruling *ruling = facts->ruling;

	return ruling->action == RULE_REWRITE || (!is_as_without(facts) &&
	    ruling->action != RULE_PASS);
}

/* No rule would see the names of its answer, as it sees those of a PLAIN one. */
static struct decision
decide_unforwardable(const struct facts *facts)
{
	return facts->question->flags & QUESTION_QR ?
	    drop(REASON_FORWARD_DENIED) :
	    refuse(REASON_FORWARD_DENIED, RCODE_REFUSED);
}

/* The same with one: a rule can only make less of such a message. */
static struct decision __attribute__((noinline))
decide_other(const struct facts *facts)
{
	struct decision d = decide_form(facts);

	if (facts->unforwardable && d.verdict == VERDICT_PASS &&
	    (facts->ruling == NULL || facts->ruling->action != RULE_PASS))
		d = decide_unforwardable(facts);
	if (facts->could_deny)
		return decide_unread(d.reason, true);
	if (facts->ruling == NULL)
		return d;
	if (is_denied(facts))
		d = decide_denied(facts, facts->ruling->limited ? REASON_RATE :
		    REASON_POLICY);
	d.rule = facts->ruling->rule;
	return d;
}

struct decision
decide(const struct facts *facts)
{
	/* Nearly all: a jump through the switch's table costs as much as this. */
	if (__builtin_expect(facts->question->form != QUESTION_PLAIN, 0))
		return decide_other(facts);
	if (__builtin_expect(facts->ruling != NULL, 0))
		return decide_ruled(facts);
	return decide_table(facts);
}

struct decision
decide_unread(enum reason reason, bool could_deny)
{
	if (!could_deny)
		return pass(reason);
	return drop(REASON_UNREADABLE);
}

enum extended_error
decide_error(const struct ruling *ruling, const struct decision *decision)
{
	/* A chain that is followed may also be one of the table. */
	if (decision->reason == REASON_CHASE)
		return ruling->action == RULE_CNAME ||
		    ruling->action == RULE_CNAME_BELOW ||
		    ruling->action == RULE_REWRITE ? EDE_FILTERED : EDE_NONE;
	if (decision->reason != REASON_POLICY &&
	    decision->reason != REASON_RATE)
		return EDE_NONE;
	switch (ruling->action) {
	case RULE_REFUSE:
		return EDE_PROHIBITED;
	case RULE_NXDOMAIN:
	case RULE_NODATA:
		return EDE_BLOCKED;
	case RULE_PASS:
	case RULE_DROP:
		return EDE_NONE;
	default:
		return EDE_FILTERED;
	}
}

bool
decide_is_for_others(const struct decision *decision)
{
	return decision->verdict == VERDICT_PASS &&
	    (decision->reason == REASON_NOT_MESH ||
	    decision->reason == REASON_OTHER_TYPE ||
	    decision->reason == REASON_UNLOADED);
}

bool
decide_leaves_table(const struct facts *facts, const struct decision *decision)
{
	return decision->verdict == VERDICT_ANSWER && facts->lookup != NULL &&
	    facts->lookup->leaves_table && !facts->lookup->has_type &&
	    (facts->question->flags & QUESTION_RD);
}

struct decision
decide_forwarding(const struct facts *facts, enum forwarding forwarding)
{
	if (facts->question->edns.present && facts->question->edns.version > 0)
		return refuse(REASON_EDNS_VERSION, RCODE_BADVERS);
	if (forwarding == FORWARDING_FULL)
		return refuse(REASON_FORWARD_FULL, RCODE_REFUSED);
	return (struct decision){ VERDICT_FORWARD, REASON_FORWARD, ANSWER_EMPTY,
		RCODE_NOERROR, 0 };
}

/* Behind a name, which may be compressed: RFC 1035, 4.1.4. */
static void
skip_name(struct wire_reader *r)
{
	uint8_t length;

	while ((length = wire_read_u8(r)) != 0) {
		if (length >= 0xc0) {
			wire_skip(r, 1);
			return;
		}
		wire_skip(r, length);
	}
}

/* Whether the answer section has a record of the type asked for. */
static bool
has_type_asked(const uint8_t *message, size_t length)
{
	struct wire_reader r = wire_reader_over(message, length);
	uint16_t questions, answers, type, asked = TYPE_ANY;

	wire_skip(&r, 4);
	questions = wire_read_u16(&r);
	answers = wire_read_u16(&r);
	wire_skip(&r, 4);
	for (; questions > 0 && !r.failed; questions--) {
		skip_name(&r);
		asked = wire_read_u16(&r);
		wire_skip(&r, 2);
	}
	for (; answers > 0 && !r.failed; answers--) {
		skip_name(&r);
		type = wire_read_u16(&r);
		wire_skip(&r, 6);
		wire_skip(&r, wire_read_u16(&r));
		if (!r.failed && (type == asked || asked == TYPE_ANY))
			return true;
	}
	return false;
}

enum verdict
decide_verdict_of(const uint8_t *message, size_t length)
{
	switch (message[3] & DNS_RCODE_MASK) {
	case RCODE_NOERROR:
		return (message[2] & DNS_FLAG_TC >> 8) != 0 ||
		    has_type_asked(message, length) ? VERDICT_ANSWER :
		    VERDICT_NODATA;
	case RCODE_NXDOMAIN:
		return VERDICT_NXDOMAIN;
	default:
		return VERDICT_REFUSE;
	}
}

struct decision
decide_cached(const uint8_t *message, size_t length)
{
	return (struct decision){ .rcode = message[3] & DNS_RCODE_MASK,
		.reason = REASON_CACHE,
		.verdict = decide_verdict_of(message, length) };
}

struct decision
decide_unreadable(void)
{
	return refuse(REASON_FORWARD_DENIED, RCODE_SERVFAIL);
}

struct decision
decide_chase(const struct decision *decision)
{
	struct decision chase = *decision;

	chase.verdict = VERDICT_FORWARD;
	chase.reason = REASON_CHASE;
	chase.content = ANSWER_CHAIN;
	return chase;
}

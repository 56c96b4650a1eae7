/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each rule by itself, and where two rules speak, the earlier one; decisions
 * from real tables stand in tests/scenarios.
 */
#include "tests/check.h"

#include <string.h>

#include "policy/decide.h"
#include "resolver/dns/rr.h"

/* Starts every case: an overlaid name with addresses, asked for its MX. */
static struct question question;
static struct lookup lookup;
static struct answer_settings settings;
static struct facts facts;

static void
reset(void)
{
	question = (struct question){ .form = QUESTION_PLAIN, .type = TYPE_MX,
		.class = CLASS_IN };
	CHECK(name_from_text(&question.name, "web.mesh.test", 13) == 0);
	lookup = (struct lookup){.entry = {.kind = ENTRY_EXACT}};
	settings = (struct answer_settings){ .suppress_https = 1, .tcp = 1 };
	facts = (struct facts){
	    .question = &question, .lookup = &lookup, .settings = &settings,
	    .loaded = true};
}

static bool
decides(enum verdict verdict, enum reason reason, enum answer_content content,
    uint16_t rcode)
{
	struct decision got = decide(&facts);
	bool same = got.verdict == verdict && got.reason == reason &&
	    (verdict == VERDICT_PASS || (got.content == content &&
	    got.rcode == rcode));

	if (!same)
		printf("  decided %s, %s\n", decide_verdict_text(got.verdict),
		    decide_reason_text(got.reason));
	return same;
}

static bool
passes(enum reason reason)
{
	return decides(VERDICT_PASS, reason, ANSWER_EMPTY, 0);
}

static bool
answers(enum reason reason)
{
	return decides(VERDICT_ANSWER, reason, ANSWER_RECORDS, 0);
}

static bool
is_nodata(enum reason reason)
{
	return decides(VERDICT_NODATA, reason, ANSWER_NEGATIVE, 0);
}

static bool
refuses(enum reason reason, uint16_t rcode)
{
	return decides(VERDICT_REFUSE, reason, ANSWER_EMPTY, rcode);
}

TEST(test_decide_forms)
{
	static const struct {
		enum question_form form;
		enum reason reason;
	} passing[] = {
		{ QUESTION_RESPONSE, REASON_NOT_QUERY },
		{ QUESTION_OPCODE, REASON_NOT_QUERY },
		{ QUESTION_NONE, REASON_NO_QUESTION },
		{ QUESTION_CLASS, REASON_CLASS },
		{ QUESTION_CHAOS, REASON_CLASS },
		{ QUESTION_SIGNED, REASON_SIGNED },
		{ QUESTION_MALFORMED, REASON_MALFORMED },
	};
	size_t i;

	reset();
	facts.lookup = NULL;
	facts.loaded = false;
	for (i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
		question.form = passing[i].form;
		CHECK(passes(passing[i].reason));
	}
	question.form = QUESTION_MANY;
	CHECK(refuses(REASON_MANY_QUESTIONS, RCODE_FORMERR));
	question.form = QUESTION_TWO_OPT;
	CHECK(refuses(REASON_MANY_OPT, RCODE_FORMERR));
	question.form = QUESTION_CHAOS;
	facts.own_name = true;
	CHECK(decides(VERDICT_ANSWER, REASON_OWN_NAME, ANSWER_TEXT, 0));
}

/* A rule can only make less of a message that the table leaves alone. */
TEST(test_decide_forms_by_rule)
{
	struct ruling ruling = { .rule = 7, .action = RULE_REFUSE };

	reset();
	facts.lookup = NULL;
	facts.ruling = &ruling;
	question.form = QUESTION_SIGNED;
	CHECK(refuses(REASON_POLICY, RCODE_REFUSED));
	CHECK(decide(&facts).rule == 7);
	ruling.action = RULE_ADDRESSES;
	CHECK(refuses(REASON_POLICY, RCODE_REFUSED));
	ruling.action = RULE_NXDOMAIN;
	CHECK(decides(VERDICT_NXDOMAIN, REASON_POLICY, ANSWER_EMPTY,
	    RCODE_NXDOMAIN));
	ruling.action = RULE_TCP_ONLY;
	CHECK(decides(VERDICT_ANSWER, REASON_POLICY, ANSWER_CUT, 0));
	ruling.action = RULE_DROP;
	CHECK(decides(VERDICT_DROP, REASON_POLICY, ANSWER_EMPTY, 0));
	ruling.action = RULE_PASS;
	CHECK(passes(REASON_SIGNED));
	ruling.action = RULE_ANSWER;
	CHECK(passes(REASON_SIGNED));
	/* Two nfdns would answer each other's answers for ever. */
	ruling.action = RULE_REFUSE;
	question.form = QUESTION_RESPONSE;
	question.flags = QUESTION_QR;
	CHECK(decides(VERDICT_DROP, REASON_POLICY, ANSWER_EMPTY, 0));
	facts.ruling = NULL;
	facts.could_deny = true;
	question.form = QUESTION_NONE;
	CHECK(decides(VERDICT_DROP, REASON_UNREADABLE, ANSWER_EMPTY, 0));
	facts.could_deny = false;
	CHECK(passes(REASON_NO_QUESTION));
}

TEST(test_decide_unloaded)
{
	reset();
	lookup.entry.kind = ENTRY_NONE;
	facts.loaded = false;
	CHECK(passes(REASON_UNLOADED));
	settings.unloaded = UNLOADED_SERVFAIL;
	CHECK(refuses(REASON_UNLOADED, RCODE_SERVFAIL));
}

TEST(test_decide_transfer)
{
	reset();
	lookup.entry.flags = NAME_OWNED;
	lookup.entry.in_zone = true;
	lookup.entry.unknown = ZONE_NXDOMAIN;
	question.type = TYPE_AXFR;
	CHECK(passes(REASON_TRANSFER));
	question.type = TYPE_IXFR;
	CHECK(passes(REASON_TRANSFER));
}

TEST(test_decide_unknown_name)
{
	reset();
	lookup.entry.kind = ENTRY_NONE;
	question.type = TYPE_A;
	CHECK(passes(REASON_NOT_MESH));
	lookup.entry.in_zone = true;
	lookup.entry.unknown = ZONE_PASS;
	CHECK(passes(REASON_NOT_MESH));
	lookup.entry.kind = ENTRY_EMPTY;
	CHECK(passes(REASON_NOT_MESH));
	lookup.entry.kind = ENTRY_NONE;
	lookup.entry.unknown = ZONE_NXDOMAIN;
	CHECK(decides(VERDICT_NXDOMAIN, REASON_UNKNOWN_NAME, ANSWER_NEGATIVE,
	    RCODE_NXDOMAIN));
}

TEST(test_decide_edns_version)
{
	reset();
	question.type = TYPE_A;
	question.edns.version = 1;
	lookup.has_type = true;
	CHECK(answers(REASON_RECORD));	/* no OPT: the version means nothing */
	question.edns.present = true;
	CHECK(refuses(REASON_EDNS_VERSION, RCODE_BADVERS));
	lookup.has_type = false;
	CHECK(refuses(REASON_EDNS_VERSION, RCODE_BADVERS));
	lookup.entry.kind = ENTRY_NONE;
	CHECK(passes(REASON_NOT_MESH));
	lookup.entry.in_zone = true;
	lookup.entry.unknown = ZONE_NXDOMAIN;
	CHECK(refuses(REASON_EDNS_VERSION, RCODE_BADVERS));
}

TEST(test_decide_records)
{
	static const struct {
		enum entry_kind kind;
		enum reason reason;
	} found[] = {
		{ ENTRY_EXACT, REASON_RECORD },
		{ ENTRY_WILDCARD, REASON_WILDCARD },
		{ ENTRY_SEARCH, REASON_SEARCH },
		{ ENTRY_SEARCH_WILDCARD, REASON_SEARCH },
	};
	size_t i;

	for (i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
		reset();
		lookup.entry.kind = found[i].kind;
		lookup.has_type = true;
		CHECK(answers(found[i].reason));
		lookup.has_type = false;
		lookup.leaves_table = true;
		question.flags = QUESTION_RD;
		CHECK(decides(VERDICT_ANSWER, found[i].reason, ANSWER_CHAIN,
		    0));
		/* Who goes on by himself, or has nowhere to go. */
		question.flags = 0;
		CHECK(answers(found[i].reason));
		question.flags = QUESTION_RD;
		settings.tcp = 0;
		CHECK(answers(found[i].reason));
	}
}

/* The code is that of the last name (RFC 6604 section 3). */
TEST(test_decide_leads_nowhere)
{
	reset();
	lookup.target_unknown = true;
	lookup.chain_length = 1;
	CHECK(decides(VERDICT_NXDOMAIN, REASON_UNKNOWN_NAME, ANSWER_NEGATIVE,
	    RCODE_NXDOMAIN));
}

TEST(test_decide_empty_name)
{
	reset();
	lookup.entry.kind = ENTRY_EMPTY;
	lookup.entry.in_zone = true;
	lookup.entry.unknown = ZONE_NXDOMAIN;
	lookup.entry.zone_labels = 2;
	CHECK(is_nodata(REASON_EMPTY_NAME));
	question.type = TYPE_A;
	CHECK(is_nodata(REASON_EMPTY_NAME));
	question.type = TYPE_SOA;
	CHECK(is_nodata(REASON_EMPTY_NAME));
	lookup.entry.zone_labels = 3; /* the apex */
	CHECK(decides(VERDICT_ANSWER, REASON_ZONE_SOA, ANSWER_SOA, 0));
	lookup.entry.kind = ENTRY_EXACT;
	CHECK(decides(VERDICT_ANSWER, REASON_ZONE_SOA, ANSWER_SOA, 0));
	question.type = TYPE_NS;
	CHECK(is_nodata(REASON_OWNED_TYPE));
}

TEST(test_decide_lacking_type)
{
	reset();
	CHECK(passes(REASON_OTHER_TYPE));
	question.type = TYPE_A;
	CHECK(is_nodata(REASON_ADDRESS_TYPE));
	question.type = TYPE_AAAA;
	CHECK(is_nodata(REASON_ADDRESS_TYPE));
	question.type = TYPE_HTTPS;
	CHECK(is_nodata(REASON_SUPPRESSED));
	question.type = TYPE_SVCB;
	CHECK(is_nodata(REASON_SUPPRESSED));
	settings.suppress_https = 0;
	CHECK(passes(REASON_OTHER_TYPE));
	lookup.entry.flags = NAME_OWNED;
	CHECK(is_nodata(REASON_OWNED_TYPE));
	lookup.entry.flags = 0;
	lookup.entry.in_zone = true; /* whatever the zone does with others */
	CHECK(is_nodata(REASON_OWNED_TYPE));
}

TEST(test_decide_texts)
{
	enum verdict verdict;
	enum reason reason, other;

	for (verdict = 0; verdict < VERDICTS; verdict++)
		CHECK(decide_verdict_text(verdict) != NULL);
	for (reason = 0; reason < REASONS; reason++) {
		CHECK(decide_reason_text(reason) != NULL);
		for (other = 0; other < reason; other++)
			CHECK(strcmp(decide_reason_text(reason),
			    decide_reason_text(other)) != 0);
	}
}

#define HEAD(flags, answers) "\x12\x34" flags "\0\1\0" answers "\0\0\0\0"
#define A_MESH	"\1a\4mesh\0"
#define VERDICT_OF(text) \
	decide_verdict_of((const uint8_t *)(text), sizeof(text) - 1)

/* Issue 23, 16: an answer of others without records of the type is NODATA. */
TEST(test_decide_verdict_of)
{
	static const char a[] = HEAD("\x81\x80", "\1") A_MESH "\0\1\0\1"
	    "\xc0\x0c\0\1\0\1\0\0\0\x1e\0\4\12\0\0\1";

	CHECK(VERDICT_OF(a) == VERDICT_ANSWER);
	/* No header is read behind the end; what is cut off has no record. */
	for (size_t length = 12; length < sizeof(a) - 1; length++)
		CHECK(decide_verdict_of((const uint8_t *)a, length) ==
		    VERDICT_NODATA);
	CHECK(VERDICT_OF(HEAD("\x81\x80", "\0") A_MESH "\0\17\0\1") ==
	    VERDICT_NODATA);
	CHECK(VERDICT_OF(HEAD("\x83\x80", "\0") A_MESH "\0\17\0\1") ==
	    VERDICT_ANSWER);
	CHECK(VERDICT_OF(HEAD("\x81\x83", "\0") A_MESH "\0\17\0\1") ==
	    VERDICT_NXDOMAIN);
	CHECK(VERDICT_OF(HEAD("\x81\x82", "\0") A_MESH "\0\17\0\1") ==
	    VERDICT_REFUSE);
	/* A CNAME alone; the same for who asks for it, or for anything. */
#define CNAME	"\xc0\x0c\0\5\0\1\0\0\0\x1e\0\4\1b\xc0\x0e"
	CHECK(VERDICT_OF(HEAD("\x81\x80", "\1") A_MESH "\0\34\0\1" CNAME) ==
	    VERDICT_NODATA);
	CHECK(VERDICT_OF(HEAD("\x81\x80", "\1") A_MESH "\0\5\0\1" CNAME) ==
	    VERDICT_ANSWER);
	CHECK(VERDICT_OF(HEAD("\x81\x80", "\1") A_MESH "\0\377\0\1" CNAME) ==
	    VERDICT_ANSWER);
}

/* RFC 8914: what a rule made of the answer, and how. */
TEST(test_decide_error)
{
	static const struct {
		enum reason reason;
		enum rule_action action;
		enum extended_error error;
	} rows[] = {
		{ REASON_CHASE, RULE_NOTHING, EDE_NONE },
		{ REASON_CHASE, RULE_CNAME, EDE_FILTERED },
		{ REASON_CHASE, RULE_CNAME_BELOW, EDE_FILTERED },
		{ REASON_CHASE, RULE_REWRITE, EDE_FILTERED },
		{ REASON_NOT_MESH, RULE_REFUSE, EDE_NONE },
		{ REASON_POLICY, RULE_REFUSE, EDE_PROHIBITED },
		{ REASON_RATE, RULE_REFUSE, EDE_PROHIBITED },
		{ REASON_POLICY, RULE_NXDOMAIN, EDE_BLOCKED },
		{ REASON_POLICY, RULE_NODATA, EDE_BLOCKED },
		{ REASON_POLICY, RULE_ADDRESSES, EDE_FILTERED },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct ruling ruling = { .action = rows[i].action };
		const struct decision decision = { .reason = rows[i].reason };

		CHECK(decide_error(&ruling, &decision) == rows[i].error);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What no table of tests/scenarios shows: verdicts of answers of others, and errors.
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

/* The code is that of the last name (RFC 6604 section 3). */
TEST(test_decide_leads_nowhere)
{
	reset();
	lookup.target_unknown = true;
	lookup.chain_length = 1;
	CHECK(decides(VERDICT_NXDOMAIN, REASON_UNKNOWN_NAME, ANSWER_NEGATIVE,
	    RCODE_NXDOMAIN));
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

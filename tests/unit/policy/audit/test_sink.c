/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which records a sink takes. */
#include "policy/audit/sink.h"

#include <sys/socket.h>

#include "policy/audit/audit.h"
#include "resolver/dns/rr.h"
#include "tests/check.h"

static bool
takes(const struct audit_sink *sink, const struct audit_record *record)
{
	CHECK(audit_sink_is_sound(sink));
	return audit_sink_takes(sink, record);
}

TEST(verdicts_are_those_of_the_list)
{
	struct audit_sink sink = { .verdicts = AUDIT_VERDICTS_USUAL };
	struct audit_record record = { .verdict = VERDICT_ANSWER };

	CHECK(takes(&sink, &record));
	record.verdict = VERDICT_PASS;
	CHECK(!takes(&sink, &record));
	record.asked = true;		/* by a rule */
	CHECK(takes(&sink, &record));
}

/* Issue 23, 16: "forward" took nothing, since no UDP question ends so. */
TEST(forward_is_what_was_asked_elsewhere)
{
	static struct audit_sink sink;
	struct audit_record record = { .family = AF_INET };

	sink.verdicts = AUDIT_VERDICT(VERDICT_FORWARD);
	record.verdict = VERDICT_ANSWER;
	record.reason = REASON_RECORD;
	CHECK(!takes(&sink, &record));
	record.reason = REASON_FORWARD;
	CHECK(takes(&sink, &record));
	record.reason = REASON_CACHE;
	CHECK(takes(&sink, &record));
	record.verdict = VERDICT_NODATA;
	record.reason = REASON_CHASE;
	CHECK(takes(&sink, &record));
	record.verdict = VERDICT_PASS;
	record.reason = REASON_FORWARD_FULL;
	CHECK(takes(&sink, &record));
	sink.verdicts = AUDIT_VERDICT(VERDICT_ANSWER);
	CHECK(!takes(&sink, &record));
	/* All but what passed. */
	sink.verdicts = AUDIT_VERDICTS_USUAL;
	CHECK(!takes(&sink, &record));
}

TEST(response_codes_are_those_of_the_list)
{
	struct audit_sink sink = { .verdicts = AUDIT_VERDICTS_USUAL,
		.rcodes = AUDIT_RCODE(RCODE_SERVFAIL) };
	struct audit_record record = { .verdict = VERDICT_REFUSE,
		.rcode = RCODE_SERVFAIL, .answer_length = 12 };

	CHECK(takes(&sink, &record));
	record.rcode = RCODE_REFUSED;
	CHECK(!takes(&sink, &record));
	record.rcode = AUDIT_RCODES + RCODE_SERVFAIL;
	CHECK(!takes(&sink, &record));
	/* No answer has no code; and a verdict has to be wanted, too. */
	record = (struct audit_record){ .verdict = VERDICT_DROP };
	sink.rcodes = AUDIT_RCODE(RCODE_NOERROR);
	CHECK(!takes(&sink, &record));
	record = (struct audit_record){ .verdict = VERDICT_PASS,
		.answer_length = 12 };
	CHECK(!takes(&sink, &record));
}

TEST(wrong_octets_are_no_sink)
{
	struct audit_sink sink = { .format = AUDIT_FORMATS };

	CHECK(!audit_sink_is_sound(&sink));
	sink = (struct audit_sink){ .verdicts = ~0U };
	CHECK(!audit_sink_is_sound(&sink));
}

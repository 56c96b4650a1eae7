/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which records a sink takes, and the seals of what it writes. */
#include "policy/audit/sink.h"

#include <sys/socket.h>
#include <stdlib.h>
#include <string.h>

#include "policy/audit/audit.h"
#include "tests/check.h"

static const uint8_t secret[SIPHASH_KEY] = { 1, 2, 3 };

static uint8_t message[300];

/* A record of a question for the name. */
static struct audit_record
record_of(const char *text)
{
	struct audit_record record = { .family = AF_INET, .uid = 1000,
		.verdict = VERDICT_ANSWER, .question = message };
	struct dns_name name;

	memset(message, 0, sizeof(message));
	message[5] = 1;
	CHECK(name_from_text(&name, text, strlen(text)) == 0);
	memcpy(message + 12, name.octets, name.length);
	record.question_length = (uint16_t)(12 + name.length + 4);
	return record;
}

static bool
takes(const struct audit_sink *sink, const struct audit_record *record)
{
	struct audit_asked asked = { .read = false };
	struct audit_pace pace = { 0, 0 };

	CHECK(audit_sink_is_sound(sink));
	return audit_sink_takes(sink, &pace, record, &asked, secret);
}

static void
add_name(struct audit_sink *sink, const char *text, bool below)
{
	struct audit_name *name = &sink->name[sink->names++];

	name->below = below;
	CHECK(name_from_text(&name->name, text, strlen(text)) == 0);
}

static void
each_filter_takes_what_it_names(void)
{
	static struct audit_sink sink;
	struct audit_record record = record_of("WWW.example.com");

	sink.verdicts = AUDIT_VERDICTS_USUAL;
	CHECK(takes(&sink, &record));
	record.verdict = VERDICT_PASS;
	CHECK(!takes(&sink, &record));
	record.verdict = VERDICT_DROP;
	add_name(&sink, "example.com", true);
	CHECK(takes(&sink, &record));
	record = record_of("example.com");
	CHECK(!takes(&sink, &record));
	add_name(&sink, "example.com", false);
	CHECK(takes(&sink, &record));
	record = record_of("anexample.com");
	CHECK(!takes(&sink, &record));
	/* What has no name is not among those that are named. */
	record.question_length = 13;
	CHECK(!takes(&sink, &record));
	sink.names = 0;
	CHECK(takes(&sink, &record));
	sink.users = 1;
	sink.user[0] = 33;
	CHECK(!takes(&sink, &record));
	/* CONFIG_NOBODY is also who is not known. */
	sink.user[0] = UINT32_MAX;
	record.uid = UINT32_MAX;
	CHECK(!takes(&sink, &record));
	record.uid = UINT32_MAX - 1;
	CHECK(!takes(&sink, &record));
	sink.user[0] = record.uid = 33;
	CHECK(takes(&sink, &record));
	sink.rules = 1;
	sink.rule[0].length = 3;
	memcpy(sink.rule[0].text, "ads", 3);
	CHECK(!takes(&sink, &record));
	record.rule = "ads-2";
	record.rule_length = 5;
	CHECK(!takes(&sink, &record));
	record.rule_length = 3;
	CHECK(takes(&sink, &record));
}

/* Issue 23, 16: "forward" took nothing, since no UDP question ends so. */
static void
forward_is_what_was_asked_elsewhere(void)
{
	static struct audit_sink sink;
	struct audit_record record = record_of("git.corp.example");

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

static void
a_sample_is_stable_and_of_the_size(void)
{
	static struct audit_sink sink;
	const uint8_t other[SIPHASH_KEY] = { 9 };
	unsigned int taken = 0, differ = 0;

	sink.verdicts = AUDIT_VERDICTS_USUAL;
	sink.sample = 10;
	for (unsigned int i = 0; i < 10000; i++) {
		struct audit_record record;
		struct audit_asked asked = { .read = false };
		struct audit_pace pace = { 0, 0 };
		char text[32];
		bool first;

		snprintf(text, sizeof(text), "n%u.example", i);
		record = record_of(text);
		first = takes(&sink, &record);
		record.packet_id = i;
		record.client_port = 7;
		CHECK(takes(&sink, &record) == first);
		taken += first;
		differ += audit_sink_takes(&sink, &pace, &record, &asked,
		    other) != first;
	}
	CHECK(taken > 800 && taken < 1200);
	CHECK(differ > 1000);
}

static void
a_rate_is_kept_in_each_second(void)
{
	static struct audit_sink sink;
	struct audit_record record = record_of("a.example");
	struct audit_asked asked = { .read = false };
	struct audit_pace pace = { 0, 0 };
	unsigned int taken = 0;

	sink.verdicts = AUDIT_VERDICTS_USUAL;
	sink.rate = 5;
	for (unsigned int i = 0; i < 3000; i++) {
		record.time_ns = UINT64_C(1000000000) * 7 + i * 1000000;
		taken += audit_sink_takes(&sink, &pace, &record, &asked,
		    secret);
	}
	CHECK(taken == 15);
}

static void
what_is_out_of_bounds_is_refused(void)
{
	static struct audit_sink sink, bad;

	add_name(&sink, "a.example", false);
	CHECK(audit_sink_is_sound(&sink));
#define BAD(change) bad = sink; change; CHECK(!audit_sink_is_sound(&bad))
	BAD(bad.format = AUDIT_FORMATS);
	BAD(bad.verdicts = ~0U);
	BAD(bad.names = AUDIT_FILTER_ITEMS + 1);
	BAD(bad.users = AUDIT_FILTER_ITEMS + 1);
	BAD(bad.rules = AUDIT_FILTER_ITEMS + 1);
	BAD(bad.names = 2);
	BAD(bad.name[0].name.labels = 9);
	BAD(bad.name[0].name.octets[0] = 200);
	BAD((bad.rules = 1, bad.rule[0].length = 200));
#undef BAD
}

/* The paper's key and octets: 00 01 02 ..., of each length. */
static void
siphash_is_that_of_the_paper(void)
{
	uint8_t key[SIPHASH_KEY], octets[64];

	for (uint8_t i = 0; i < 64; i++)
		octets[i] = i;
	memcpy(key, octets, sizeof(key));
	CHECK(siphash(key, octets, 0) == UINT64_C(0x726fdb47dd0e0e31));
	CHECK(siphash(key, octets, 8) == UINT64_C(0x93f5f5799a932462));
	CHECK(siphash(key, octets, 15) == UINT64_C(0xa129ca6149be45e5));
}

static void
a_seal_depends_on_all_before_it(void)
{
	const struct audit_key none = { .present = false };
	const struct audit_key key = { .present = true, .octets = { 1 } };
	const struct audit_key *keys[] = { &none, &key };

	for (size_t k = 0; k < 2; k++) {
		struct audit_seal seal = { 0, 77 }, read;
		char first[80], second[80];
		const size_t at = 20;

		memset(first, 'a', sizeof(first));
		memset(second, 'b', sizeof(second));
		audit_seal_put(&seal, keys[k], first, sizeof(first), at);
		CHECK(audit_seal_read(&read, first + at));
		CHECK(read.number == 1 && read.chain == seal.chain);
		audit_seal_put(&seal, keys[k], second, sizeof(second), at);
		CHECK(audit_seal_read(&read, second + at) && read.number == 2);
		CHECK(audit_seal_chain(keys[k], 77, first, sizeof(first),
		    at) != seal.chain);
		CHECK(audit_seal_read(&read, second + at));
		CHECK(audit_seal_chain(keys[1 - k], 77, first, sizeof(first),
		    at) != audit_seal_chain(keys[k], 77, first, sizeof(first),
		    at));
		first[0] = 'c';
		CHECK(audit_seal_chain(keys[k], 78, first, sizeof(first), at) !=
		    audit_seal_chain(keys[k], 77, first, sizeof(first), at));
		second[at + 3] = 'x';
		CHECK(!audit_seal_read(&read, second + at));
	}
}

int
main(void)
{
	TEST(each_filter_takes_what_it_names);
	TEST(forward_is_what_was_asked_elsewhere);
	TEST(a_sample_is_stable_and_of_the_size);
	TEST(a_rate_is_kept_in_each_second);
	TEST(what_is_out_of_bounds_is_refused);
	TEST(siphash_is_that_of_the_paper);
	TEST(a_seal_depends_on_all_before_it);
	return test_summary();
}

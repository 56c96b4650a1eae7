/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of a record's line. */
#include "tests/unit/policy/audit/json_line.h"

static void
write_name(const char *text)
{
	struct dns_name name;

	if (name_from_text(&name, text, strlen(text)) == 0)
		wire_write_octets(&w, name.octets, name.length);
}

static void
write_question(const char *name, uint16_t type)
{
	write_name(name);
	wire_write_u16(&w, type);
	wire_write_u16(&w, CLASS_IN);
}

/* An answer whose owner is the question's name. */
static void
write_record(uint16_t type, const void *rdata, uint16_t length)
{
	wire_write_u16(&w, 0xc00c);
	wire_write_u16(&w, type);
	wire_write_u16(&w, CLASS_IN);
	wire_write_u32(&w, 30);
	wire_write_u16(&w, length);
	wire_write_octets(&w, rdata, length);
}

TEST(an_answer_has_all_that_eve_has)
{
	static const uint8_t address[] = { 10, 0, 0, 1 }, other[] = { 10, 0, 0, 2 };
	const json_t *root;

	start_message(0x8580, 3);
	write_question("Www.example.com", TYPE_A);
	write_record(TYPE_CNAME, "\3api\xc0\x10", 6);
	write_record(TYPE_A, address, 4);
	write_record(TYPE_A, other, 4);
	root = json_of_answer(blank);
	CHECK(is_text(root, "timestamp", "2026-11-20T20:25:00.123456+0000"));
	CHECK(is_text(root, "event_type", "dns"));
	CHECK(is_text(root, "src_ip", "192.0.2.7"));
	CHECK(is_number(root, "src_port", 40000));
	CHECK(is_text(root, "dest_ip", "192.0.2.53"));
	CHECK(is_number(root, "dest_port", 53));
	CHECK(is_text(root, "proto", "UDP"));
	CHECK(is_number(root, "ip_v", 4));
	CHECK(is_number(root, "dns.version", 3));
	CHECK(is_text(root, "dns.type", "response"));
	CHECK(is_number(root, "dns.id", 0x1234));
	CHECK(is(root, "dns.qr", JSON_TRUE));
	CHECK(is(root, "dns.aa", JSON_TRUE));
	CHECK(is(root, "dns.tc", JSON_FALSE));
	CHECK(is(root, "dns.rd", JSON_TRUE));
	CHECK(is(root, "dns.ra", JSON_TRUE));
	CHECK(is_text(root, "dns.queries.0.rrname", "Www.example.com"));
	CHECK(is_text(root, "dns.queries.0.rrtype", "A"));
	CHECK(is_text(root, "dns.rcode", "NOERROR"));
	CHECK(json_size(at(root, "dns.answers")) == 3);
	CHECK(is_text(root, "dns.answers.0.rrname", "Www.example.com"));
	CHECK(is_text(root, "dns.answers.0.rrtype", "CNAME"));
	CHECK(is_text(root, "dns.answers.0.rdata", "api.example.com"));
	CHECK(is_number(root, "dns.answers.1.ttl", 30));
	CHECK(is_text(root, "dns.grouped.CNAME.0", "api.example.com"));
	CHECK(is_text(root, "dns.grouped.A.0", "10.0.0.1"));
	CHECK(is_text(root, "dns.grouped.A.1", "10.0.0.2"));
	CHECK(at(root, "nfdns.answers_omitted") == NULL);
	CHECK(is_number(root, "nfdns.packet_id", 77));
	CHECK(is_text(root, "nfdns.decision", "answer"));
	CHECK(is_text(root, "nfdns.reason", "record"));
	CHECK(is(root, "nfdns.rule", JSON_NULL));
	CHECK(is_number(root, "nfdns.uid", 1000));
	CHECK(is_number(root, "nfdns.gid", 100));
	CHECK(is_number(root, "nfdns.generation", 3));
	CHECK(strstr(line, "\"spent_us\":4.207") != NULL);
}

/* Owner, type, class and TTL like the record before, or not. */
TEST(records_that_are_alike_and_not_have_each_their_own)
{
	static const uint8_t address[] = { 10, 0, 0, 1 };
	static const struct {
		const char *owner;
		size_t owner_length;
		uint16_t type;
		uint8_t ttl;
		const char *name;
	} records[] = {
		{ "\xc0\x0c", 2, TYPE_A, 30, "www.x" },
		{ "\xc0\x0c", 2, TYPE_A, 30, "www.x" },
		{ "\xc0\x0c", 2, TYPE_A, 31, "www.x" },
		{ "\xc0\x10", 2, TYPE_A, 31, "x" },
		{ "\xc0\x10", 2, TYPE_A, 31, "x" },
		{ "\xc0\x10", 2, TYPE_TXT, 31, "x" },
		{ "\1x\0", 3, TYPE_A, 31, "x" },
		{ "\1x\0", 3, TYPE_A, 31, "x" },
		{ "\0", 1, TYPE_A, 31, "." },
		{ "\xc0\x0c", 2, TYPE_A, 31, "www.x" },
	};
	const size_t count = sizeof(records) / sizeof(records[0]);
	char path[64];
	const json_t *root;

	start_message(0x8580, (uint16_t)count);
	write_question("www.x", TYPE_A);
	for (size_t i = 0; i < count; i++) {
		wire_write_octets(&w, records[i].owner, records[i].owner_length);
		wire_write_u16(&w, records[i].type);
		wire_write_u16(&w, CLASS_IN);
		wire_write_u32(&w, records[i].ttl);
		wire_write_u16(&w, sizeof(address));
		wire_write_octets(&w, address, sizeof(address));
	}
	root = json_of_answer(blank);
	CHECK(json_size(at(root, "dns.answers")) == count);
	for (size_t i = 0; i < count; i++) {
		const bool text = records[i].type == TYPE_TXT;

		snprintf(path, sizeof(path), "dns.answers.%zu.rrname", i);
		CHECK(is_text(root, path, records[i].name));
		snprintf(path, sizeof(path), "dns.answers.%zu.rrtype", i);
		CHECK(is_text(root, path, text ? "TXT" : "A"));
		snprintf(path, sizeof(path), "dns.answers.%zu.ttl", i);
		CHECK(is_number(root, path, records[i].ttl));
		snprintf(path, sizeof(path), "dns.answers.%zu.rdata", i);
		CHECK(is_text(root, path, text ? "\\# 4 0a000001" :
		    "10.0.0.1"));
	}
}

TEST(a_passed_question_has_no_answer)
{
	struct audit_record record = blank;
	const json_t *root;

	start_message(0x0100, 0);
	write_question("example.org", TYPE_AAAA);
	record.question = message;
	record.question_length = (uint16_t)wire_written(&w);
	record.verdict = VERDICT_PASS;
	record.reason = REASON_NOT_MESH;
	record.family = AF_INET6;
	record.uid = (uid_t)-1;
	record.gid = (gid_t)-1;
	root = json_of(&record);
	CHECK(is_text(root, "src_ip", "c000:207::"));
	CHECK(is_number(root, "ip_v", 6));
	CHECK(is_text(root, "dns.type", "request"));
	CHECK(is_text(root, "dns.queries.0.rrname", "example.org"));
	CHECK(is_text(root, "dns.queries.0.rrtype", "AAAA"));
	CHECK(at(root, "dns.rcode") == NULL);
	CHECK(at(root, "dns.answers") == NULL);
	CHECK(is(root, "nfdns.uid", JSON_NULL));
	CHECK(is(root, "nfdns.gid", JSON_NULL));
	CHECK(is_text(root, "nfdns.decision", "pass"));
	CHECK(is_text(root, "nfdns.reason", "not-mesh"));
}

TEST(an_error_names_its_code)
{
	struct audit_record record = blank;
	const json_t *root;

	start_message(0x8580, 0);
	write_question("a.b", TYPE_TXT);
	record.verdict = VERDICT_REFUSE;
	record.reason = REASON_EDNS_VERSION;
	record.rcode = RCODE_BADVERS;
	root = json_of_answer(record);
	CHECK(is_text(root, "dns.rcode", "BADVERS"));
	CHECK(at(root, "dns.answers") == NULL);
	CHECK(is_text(root, "nfdns.decision", "refuse"));
}

TEST(data_of_other_types_is_readable)
{
	static const struct {
		uint16_t type;
		const char *rdata;
		uint16_t length;
		const char *text;
	} cases[] = {
		{ TYPE_MX, "\0\12\2mx\xc0\x0c", 7, "10 mx.x.test" },
		{ TYPE_SRV, "\0\1\0\2\0\120\1s\0", 9, "1 2 80 s" },
		{ TYPE_TXT, "\2ab\3c\"\\", 7, "abc\"\\\\" },
		{ TYPE_TXT, "\3a\1\xff", 4, "a\\001\\255" },
		{ TYPE_SOA, "\xc0\x0c\1h\xc0\x0c\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0"
		  "\4\0\0\0\5", 26, "x.test h.x.test 1 2 3 4 5" },
		{ TYPE_AAAA, "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16,
		  "2001:db8::1" },
		{ TYPE_A, "abc", 3, "\\# 3 616263" },
		{ TYPE_A, "abcde", 5, "\\# 5 6162636465" },
		{ TYPE_CNAME, "\xc0\xff", 2, "\\# 2 c0ff" },
		{ TYPE_CNAME, "\0\0", 2, "\\# 2 0000" },
		{ TYPE_CNAME, "\0", 1, "." },
		{ 65280, "", 0, "\\# 0 " },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const json_t *root;

		start_message(0x8580, 1);
		write_question("x.test", TYPE_ANY);
		write_record(cases[i].type, cases[i].rdata, cases[i].length);
		root = json_of_answer(blank);
		CHECK(is_text(root, "dns.answers.0.rdata", cases[i].text));
	}
}

/* "grouped" of EVE has some types only, and SRV and SOA as objects. */
TEST(data_by_type_is_as_in_eve)
{
	const json_t *root;

	start_message(0x8580, 5);
	write_question("x.test", TYPE_ANY);
	write_record(TYPE_SRV, "\0\1\0\2\0\120\1s", 8);	/* cut off */
	write_record(TYPE_SRV, "\0\1\0\2\0\120\1s\0", 9);
	write_record(TYPE_SOA, "\xc0\x0c\1h\xc0\x0c\0\0\0\1\0\0\0\2\0\0\0\3\0"
	    "\0\0\4\0\0\0\5", 26);
	write_record(65280, "x", 1);
	write_record(TYPE_TXT, "\1t", 2);
	root = json_of_answer(blank);
	CHECK(json_size(at(root, "dns.answers")) == 5);
	CHECK(at(root, "dns.answers.0.srv") == NULL);
	CHECK(is_number(root, "dns.answers.1.srv.port", 80));
	CHECK(is_text(root, "dns.answers.1.rdata", "1 2 80 s"));
	CHECK(is_text(root, "dns.answers.2.soa.rname", "h.x.test"));
	CHECK(json_size(at(root, "dns.grouped")) == 3);
	CHECK(json_size(at(root, "dns.grouped.SRV")) == 1);
	CHECK(is_text(root, "dns.grouped.SRV.0.name", "s"));
	CHECK(is_number(root, "dns.grouped.SRV.0.priority", 1));
	CHECK(is_number(root, "dns.grouped.SRV.0.weight", 2));
	CHECK(is_text(root, "dns.grouped.SOA.0.mname", "x.test"));
	CHECK(is_number(root, "dns.grouped.SOA.0.minimum", 5));
	CHECK(is_text(root, "dns.grouped.TXT.0", "t"));
	start_message(0x8580, 1);
	write_question("x.test", TYPE_ANY);
	write_record(65280, "", 0);
	root = json_of_answer(blank);
	CHECK(at(root, "dns.answers.0") != NULL &&
	    at(root, "dns.grouped") == NULL);
	start_message(0x8580, 1);	/* and there is none */
	write_question("x.test", TYPE_ANY);
	root = json_of_answer(blank);
	CHECK(at(root, "dns.answers") == NULL);
	CHECK(is_number(root, "nfdns.answers_omitted", 1));
}

/*
 * A record and one that differs in a single thing, in turns: each line is what
 * a formatter writes that has seen no other.
 */
TEST(a_line_says_nothing_of_the_one_before)
{
	static char expected[AUDIT_JSON_MAX];
	struct audit_record records[14];
	const size_t count = sizeof(records) / sizeof(records[0]);

	start_message(0x8580, 0);
	write_question("a.test", TYPE_A);
	for (size_t i = 0; i < count; i++) {
		records[i] = blank;
		records[i].answer = records[i].question = message;
		records[i].answer_length = (uint16_t)wire_written(&w);
		records[i].question_length = records[i].answer_length;
	}
	records[1].time_ns += 1000000000;
	records[2].time_ns += 86400000000000;
	records[3].client[3]++;
	records[4].client[15]++;
	records[4].family = AF_INET6;
	records[5].server[0]++;
	records[6].server_port++;
	records[7].stream = true;
	records[8].answer_length = 0;
	records[9].uid = (uid_t)-1;
	records[10].gid++;
	records[11].generation += UINT64_C(1) << 32;
	records[12].verdict = VERDICT_NODATA;
	records[13].reason = REASON_WILDCARD;
	for (size_t i = 0; i < count * count * 2; i++) {
		const struct audit_record *r = &records[i % 2 == 0 ?
		    i / 2 % count : i / 2 / count];
		struct audit_json fresh = { .second = { .length = 0 } };
		size_t length = audit_json(&fresh, r, expected,
		    AUDIT_JSON_MAX);

		CHECK(audit_json(&formatter, r, line, AUDIT_JSON_MAX) ==
		    length && memcmp(line, expected, length) == 0);
		message[2] ^= i % 7 == 0;	/* RD */
	}
}

TEST(the_rule_is_named)
{
	struct audit_record record = blank, none;
	const json_t *root;

	start_message(0x8580, 0);
	write_question("a.test", TYPE_A);
	record.rule = "no \"ads\"\n";
	record.rule_length = 9;
	none = record;
	none.rule_length = 0;
	for (int i = 0; i < 2; i++) {
		root = json_of_answer(record);
		CHECK(is_text(root, "nfdns.rule", "no \"ads\"\\010"));
		root = json_of_answer(none);
		CHECK(is(root, "nfdns.rule", JSON_NULL));
	}
}

/* With as many answers as a message can have. */
TEST(the_longest_rule_leaves_the_line_whole)
{
	uint8_t address[16];
	char rule[UINT8_MAX];
	struct audit_record record = blank;
	const json_t *root;

	memset(address, 0xfd, sizeof(address));
	memset(rule, 1, sizeof(rule));
	record.rule = rule;
	record.rule_length = sizeof(rule);
	start_message(0x8580, 200);
	write_question("a.test", TYPE_AAAA);
	for (int i = 0; i < 200; i++)
		write_record(TYPE_AAAA, address, sizeof(address));
	root = json_of_answer(record);
	CHECK(strlen(json_string_value(at(root, "nfdns.rule"))) == 4 * AUDIT_RULE_MAX);
	CHECK(at(root, "nfdns.answers_omitted") != NULL);
}

/* Listed and left out add up, in a line that fits, and both lists agree. */
static void
check_omitted(long long count, size_t at_least)
{
	const json_t *root = json_of_answer(blank);
	size_t listed = json_size(at(root, "dns.answers"));
	size_t grouped = 0;
	json_t *group = (json_t *)(uintptr_t)at(root, "dns.grouped"), *list;
	const char *type;

	CHECK(listed >= at_least);
	CHECK(is_number(root, "nfdns.answers_omitted",
	    count - (long long)listed));
	json_object_foreach(group, type, list)
		grouped += json_size(list);
	CHECK(grouped == listed);
	CHECK(is_number(root, "nfdns.generation", 3));
}

TEST(what_does_not_fit_is_left_out_and_counted)
{
	uint8_t address[4] = { 10, 0, 0, 0 }, name[255];

	start_message(0x8580, 400);
	write_question("reviews.default.svc.cluster.local", TYPE_A);
	for (unsigned int i = 0; i < 400; i++) {
		address[3] = (uint8_t)i;
		write_record(TYPE_A, address, 4);
	}
	CHECK(!w.full);
	check_omitted(400, 100);

	/* Names that take the most room there can be. */
	memset(name, 1, sizeof(name));
	name[0] = name[64] = name[128] = 63;
	name[192] = 61;
	name[254] = 0;
	start_message(0x8580, 20);
	wire_write_octets(&w, name, sizeof(name));
	wire_write_u32(&w, 0x00050001);
	for (int i = 0; i < 20; i++)
		write_record((uint16_t)(TYPE_CNAME + (i % 2 == 0 ? 0 : 7)), name,
		    sizeof(name));
	CHECK(!w.full);
	check_omitted(20, 3);

	/* One that is too large by itself. */
	start_message(0x8580, 1);
	write_question("x.test", 65280);
	wire_write_u16(&w, 0xc00c);
	wire_write_u16(&w, 65280);
	wire_write_u16(&w, CLASS_IN);
	wire_write_u32(&w, 30);
	wire_write_u16(&w, 8000);
	w.pos += 8000;
	check_omitted(1, 0);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers with records: what they hold, and what of it has room. */
#include "tests/unit/resolver/answer/built_answer.h"

static const uint8_t addresses[400 * 16] = {
	10, 0, 0, 1, 10, 0, 0, 2, 10, 0, 0, 3 };

TEST(test_answer_octets)
{
	ask("Web.test", TYPE_A, 0);
	add(TYPE_A, 1, 4, addresses);
	build(512);
	CHECK(t.length == 42);
	CHECK(memcmp(t.octets, "ID\x85\x90\0\1\0\1\0\0\0\0"
	    "\3Web\4test\0\0\1\0\1"
	    "\300\14\0\1\0\1\0\0\0\36\0\4\12\0\0\1", 42) == 0);
}

TEST(test_answer_flags)
{
	ask("web.test", TYPE_A, 0);
	add(TYPE_A, 1, 4, addresses);
	t.question.flags = 0x0670;	/* AA, TC, Z, AD, CD; no RD */
	build(512);
	CHECK(t.octets[2] == 0x84 && t.octets[3] == 0x90);
	t.question.flags = 0x0100;
	build(512);
	CHECK(t.octets[2] == 0x85 && t.octets[3] == 0x80);
}

TEST(test_answer_rotation)
{
	static const char *const first[] = { "web.test.\t30\tIN\tA\t10.0.0.1",
		"web.test.\t30\tIN\tA\t10.0.0.2", "web.test.\t30\tIN\tA\t10.0.0.3" };
	uint32_t turn;

	for (turn = 0; turn < 7; turn++) {
		ask("web.test", TYPE_A, 0);
		add(TYPE_A, 3, 4, addresses);
		t.plan.rotation = turn;
		build(512);
		CHECK(answers() == 3);
		CHECK(ANSWER_IS(0, first[turn % 3]));
		CHECK(ANSWER_IS(1, first[(turn + 1) % 3]));
		CHECK(ANSWER_IS(2, first[(turn + 2) % 3]));
	}
}

/* Records with lengths of their own turn round as well. */
TEST(test_answer_counted_rdata)
{
	static const uint8_t texts[] = "\0\2\1a\0\3\2bc\0\4\3def";
	uint32_t turn;

	for (turn = 0; turn < 3; turn++) {
		ask("web.test", TYPE_TXT, 0);
		add(TYPE_TXT, 3, 0, texts);
		t.plan.rotation = turn;
		build(512);
		CHECK(answers() == 3);
		CHECK(ANSWER_IS((3 - turn) % 3, "web.test.\t30\tIN\tTXT\t\"a\""));
		CHECK(ANSWER_IS((4 - turn) % 3, "web.test.\t30\tIN\tTXT\t\"bc\""));
		CHECK(ANSWER_IS((5 - turn) % 3, "web.test.\t30\tIN\tTXT\t\"def\""));
	}
}

TEST(test_answer_edns)
{
	ask("web.test", TYPE_A, 4096);
	add(TYPE_A, 1, 4, addresses);
	t.settings.udp_size = 1400;
	build(1400);
	CHECK(ldns_pkt_edns(t.packet) && ldns_pkt_edns_do(t.packet));
	CHECK(ldns_pkt_edns_version(t.packet) == 0);
	CHECK(ldns_pkt_edns_udp_size(t.packet) == 1400);
	CHECK(ldns_pkt_edns_extended_rcode(t.packet) == 0);
	t.question.edns.dnssec_ok = false;
	t.plan.content = ANSWER_EMPTY;
	t.plan.lookup = NULL;
	t.plan.rcode = RCODE_BADVERS;
	build(512);
	CHECK(!ldns_pkt_edns_do(t.packet) && answers() == 0);
	CHECK(ldns_pkt_edns_extended_rcode(t.packet) == 1);
	CHECK((t.octets[3] & 15) == 0 && t.length == 26 + 11);
}

/* How many addresses of four octets fit behind header, question and OPT. */
static uint32_t
fitting(size_t limit, unsigned int edns_size)
{
	return (uint32_t)((limit - 26 - (edns_size > 0 ? 11 : 0)) / 16);
}

/* Over TCP nobody has more: the same, and no TC. */
TEST(test_answer_without_tcp)
{
	ask("web.test", TYPE_A, 0);
	add(TYPE_A, 200, 4, addresses);
	t.settings.tcp = 0;
	CHECK(answer_build(&t.plan, t.octets, ANSWER_UDP_MAX, &t.summary) <= 512);
	CHECK((t.octets[2] & 2) == 0 && t.octets[7] == fitting(512, 0));
	t.plan.content = ANSWER_CUT;
	CHECK(answer_build(&t.plan, t.octets, ANSWER_UDP_MAX, &t.summary) > 0);
	CHECK((t.octets[2] & 2) != 0);
}

static void
check_limit(unsigned int edns_size, uint16_t own, size_t limit)
{
	uint32_t most = fitting(limit, edns_size), count;

	for (count = most; count <= most + 1; count++) {
		ask("web.test", TYPE_A, edns_size);
		add(TYPE_A, count, 4, addresses);
		t.settings.udp_size = own;
		build(ANSWER_UDP_MAX);
		CHECK(t.length <= limit);
		CHECK(answers() == most);
		CHECK(t.summary.truncated == (count > most));
		CHECK(ldns_pkt_edns(t.packet) == (edns_size > 0));
	}
}

TEST(test_answer_sizes)
{
	check_limit(0, 1232, 512);
	check_limit(0, 4096, 512);
	check_limit(1, 1232, 512);
	check_limit(511, 1232, 512);
	check_limit(600, 1232, 600);
	check_limit(4096, 1232, 1232);
	check_limit(65535, 4096, 4096);
	check_limit(4096, 100, 512);
}

TEST(test_answer_stream)
{
	static uint8_t buf[65535];

	ask("web.test", TYPE_AAAA, 0);
	add(TYPE_AAAA, 400, 16, addresses);
	t.plan.stream = true;
	t.length = answer_build(&t.plan, buf, sizeof(buf), &t.summary);
	CHECK(t.length == 26 + 400 * 28);
	CHECK(t.summary.answers == 400 && !t.summary.truncated);
	/* Only the buffer is the limit then, and what goes into it is sent. */
	CHECK(answer_build(&t.plan, buf, 26 + 400 * 28 - 1, &t.summary) ==
	    26 + 399 * 28);
	CHECK(t.summary.answers == 399 && t.summary.truncated);
}

TEST(test_answer_chain)
{
	ask("www.test", TYPE_A, 0);
	add(TYPE_CNAME, 1, 0, "\0\13\4next\4test\0");
	add(TYPE_CNAME, 1, 10, "\3web\4test\0");
	add(TYPE_A, 2, 4, addresses);
	t.lookup.has_type = true;
	build(512);
	CHECK(answers() == 4);
	CHECK(ANSWER_IS(0, "www.test.\t30\tIN\tCNAME\tnext.test."));
	CHECK(ANSWER_IS(1, "next.test.\t30\tIN\tCNAME\tweb.test."));
	CHECK(ANSWER_IS(2, "web.test.\t30\tIN\tA\t10.0.0.1"));
	/* All owners are pointers. */
	CHECK(t.length == 26 + (12 + 11) + (12 + 10) + 2 * 16);
}

/* What was cut off is there when the turn is another's: none is always last. */
TEST(test_answer_part_rotates)
{
	static uint8_t many[40][4];
	unsigned int seen[40] = { 0 };
	uint32_t turn, n;

	for (n = 0; n < 40; n++)
		memcpy(many[n], (uint8_t [4]){ 10, 0, 0, (uint8_t)n }, 4);
	for (turn = 0; turn < 40; turn++) {
		ask("web.test", TYPE_A, 0);
		add(TYPE_A, 40, 4, many);
		t.plan.rotation = turn;
		build(512);
		CHECK(t.summary.truncated && answers() == 30);
		for (n = 0; n < answers(); n++) {
			const ldns_rr *rr = ldns_rr_list_rr(
			    ldns_pkt_answer(t.packet), n);

			seen[ldns_rdf_data(ldns_rr_rdf(rr, 0))[3] % 40]++;
		}
	}
	for (n = 0; n < 40; n++)
		CHECK(seen[n] == 30);
}

/* Services too, and one record that is too long hides no other. */
TEST(test_answer_part_of_counted)
{
	static uint8_t many[20][2 + 6 + 10], texts[2 + 600 + 2 + 2];
	uint32_t n;

	for (n = 0; n < 20; n++) {
		memcpy(many[n], "\0\20\0\0\0\0\0\0\3web\4test\0", 18);
		many[n][7] = (uint8_t)n;
	}
	ask("srv.test", TYPE_SRV, 0);
	add(TYPE_SRV, 20, 0, many);
	t.lookup.has_type = true;
	t.plan.rotation = 19;
	build(512);
	CHECK(t.summary.truncated && answers() == (512 - 26) / 28);
	CHECK(ANSWER_IS(0, "srv.test.\t30\tIN\tSRV\t0 0 19 web.test."));
	CHECK(ANSWER_IS(1, "srv.test.\t30\tIN\tSRV\t0 0 0 web.test."));

	memcpy(texts, "\2\130\377", 3);
	texts[258] = 255;
	texts[514] = 87;
	memcpy(texts + 602, "\0\2\1a", 4);
	ask("txt.test", TYPE_TXT, 0);
	add(TYPE_TXT, 2, 0, texts);
	build(512);
	CHECK(t.summary.truncated && answers() == 1);
	CHECK(ANSWER_IS(0, "txt.test.\t30\tIN\tTXT\t\"a\""));
}

/* The CNAMEs stay when what they lead to is too long. */
TEST(test_answer_chain_truncated)
{
	ask("www.test", TYPE_A, 0);
	add(TYPE_CNAME, 1, 10, "\3web\4test\0");
	add(TYPE_A, 40, 4, addresses);
	t.lookup.has_type = true;
	build(1232);
	CHECK(answers() == 1 + 29 && t.summary.truncated);
	/* Nor is there an SOA behind a gap, small as it is. */
	t.plan.content = ANSWER_NEGATIVE;
	build(1232);
	CHECK(answers() == 1 + 29 && t.summary.truncated);
	CHECK(ldns_pkt_nscount(t.packet) == 0);
}

TEST(test_answer_search)
{
	ask("Web.svc.a.test", TYPE_A, 0);
	make_search(8, ENTRY_SEARCH);
	add(TYPE_A, 2, 4, addresses);
	build(512);
	CHECK(answers() == 3);
	CHECK(ANSWER_IS(0, "Web.svc.a.test.\t30\tIN\tCNAME\tWeb.svc."));
	CHECK(ANSWER_IS(1, "Web.svc.\t30\tIN\tA\t10.0.0.1"));

	/* Through a wildcard: a CNAME would be to a name that is none. */
	make_search(8, ENTRY_SEARCH_WILDCARD);
	build(512);
	CHECK(answers() == 2);
	CHECK(ANSWER_IS(0, "Web.svc.a.test.\t30\tIN\tA\t10.0.0.1"));
}

TEST(test_answer_text)
{
	char text[600];
	const ldns_rr *rr;

	ask("version.nfdns", TYPE_TXT, 1232);
	t.plan.content = ANSWER_TEXT;
	t.plan.lookup = NULL;
	t.plan.text = "nfdns";
	build(512);
	CHECK(ANSWER_IS(0, "version.nfdns.\t0\tCH\tTXT\t\"nfdns\""));
	t.plan.text = "";
	build(512);
	CHECK(ANSWER_IS(0, "version.nfdns.\t0\tCH\tTXT\t\"\""));
	memset(text, 'x', sizeof(text));
	text[511] = '\0';
	t.plan.text = text;
	build(1232);
	CHECK(answers() == 1);
	rr = ldns_rr_list_rr(ldns_pkt_answer(t.packet), 0);
	CHECK(ldns_rr_rd_count(rr) == 3);
	CHECK(ldns_rdf_size(ldns_rr_rdf(rr, 0)) == 256);
	CHECK(ldns_rdf_size(ldns_rr_rdf(rr, 2)) == 2);
	build(512);
	CHECK(answers() == 0 && t.summary.truncated);
}

/* Messages whose questions are not echoed get a header and the code. */
TEST(test_answer_without_question)
{
	question_parse(&t.question,
	    (const uint8_t *)"ID\1\0\0\2\0\0\0\0\0\1", 12);
	CHECK(t.question.form == QUESTION_MANY);
	t.plan = (struct answer_plan){ .question = &t.question,
		.content = ANSWER_EMPTY, .rcode = RCODE_FORMERR,
		.settings = &t.settings };
	build(512);
	CHECK(t.length == 12);
	CHECK(memcmp(t.octets, "ID\x85\x81\0\0\0\0\0\0\0\0", 12) == 0);
}

int
main(void)
{
	test_run();
	ldns_pkt_free(t.packet);
	return test_summary();
}

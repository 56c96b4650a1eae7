/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Negative answers, and the SOA records that they have. */
#include "tests/unit/resolver/answer/built_answer.h"

TEST(test_answer_negative)
{
	ask("web.Mesh.test", TYPE_AAAA, 0);
	t.plan.content = ANSWER_NEGATIVE;
	build(512);
	CHECK(answers() == 0 && ldns_pkt_nscount(t.packet) == 1);
	CHECK(AUTHORITY_IS("web.Mesh.test.\t5\tIN\tSOA\tns.dns.web.Mesh.test."
	    " hostmaster.web.Mesh.test. 1 7200 1800 86400 5"));
	t.lookup.entry.in_zone = true;
	t.lookup.entry.zone_labels = 2;
	t.plan.rcode = RCODE_NXDOMAIN;
	build(512);
	CHECK(ldns_pkt_get_rcode(t.packet) == LDNS_RCODE_NXDOMAIN);
	CHECK(AUTHORITY_IS("Mesh.test.\t5\tIN\tSOA\tns.dns.Mesh.test."
	    " hostmaster.Mesh.test. 1 7200 1800 86400 5"));
	t.lookup.entry.zone_labels = 0;
	build(512);
	CHECK(AUTHORITY_IS(".\t5\tIN\tSOA\tns.dns."
	    " hostmaster. 1 7200 1800 86400 5"));
}

TEST(test_answer_negative_chain)
{
	ask("www.mesh.test", TYPE_AAAA, 0);
	t.plan.content = ANSWER_NEGATIVE;
	t.lookup.entry.in_zone = true;
	t.lookup.entry.zone_labels = 2;
	add(TYPE_CNAME, 1, 10, "\3web\4test\0");
	build(512);
	CHECK(answers() == 1);
	CHECK(ANSWER_IS(0, "www.mesh.test.\t30\tIN\tCNAME\tweb.test."));
	CHECK(AUTHORITY_IS("web.test.\t5\tIN\tSOA\tns.dns.web.test."
	    " hostmaster.web.test. 1 7200 1800 86400 5"));

	/* The search CNAME leads to records or is not there. */
	make_search(4, ENTRY_SEARCH);
	build(512);
	CHECK(answers() == 0);
	CHECK(AUTHORITY_IS("mesh.test.\t5\tIN\tSOA\tns.dns.mesh.test."
	    " hostmaster.mesh.test. 1 7200 1800 86400 5"));
}

/* In a zone it is the zone's name that ns.dns and hostmaster stand before. */
TEST(test_answer_negative_long_name)
{
	char text[254];

	memset(text, 'y', sizeof(text));
	text[63] = text[127] = text[191] = '.';
	memcpy(text + 242, ".mesh.test", 11);
	ask(text, TYPE_AAAA, 4096);
	t.plan.content = ANSWER_NEGATIVE;
	t.lookup.entry.in_zone = true;
	t.lookup.entry.zone_labels = 2;
	build(1232);
	CHECK(AUTHORITY_IS("mesh.test.\t5\tIN\tSOA\tns.dns.mesh.test."
	    " hostmaster.mesh.test. 1 7200 1800 86400 5"));
	/* The zone may be all of the name. */
	ask("mesh.test", TYPE_AAAA, 0);
	t.plan.content = ANSWER_NEGATIVE;
	t.lookup.entry.in_zone = true;
	t.lookup.entry.zone_labels = 2;
	build(512);
	CHECK(AUTHORITY_IS("mesh.test.\t5\tIN\tSOA\tns.dns.mesh.test."
	    " hostmaster.mesh.test. 1 7200 1800 86400 5"));
}

static void
ask_in_zone(const char *name, uint8_t zone_labels, uint16_t rdlength,
    const void *target)
{
	ask(name, TYPE_NS, 0);
	t.lookup.entry.in_zone = zone_labels > 0;
	t.lookup.entry.zone_labels = zone_labels;
	add(TYPE_NS, 1, 0, target);
	CHECK(rdlength == (((const uint8_t *)target)[0] << 8 |
	    ((const uint8_t *)target)[1]));
	build(512);
}

/* A target in the question's zone has the zone's name as it was asked for. */
TEST(test_answer_zone_case)
{
	ask_in_zone("wWw.mEsH.tEsT", 2, 15, "\0\17\3web\4mesh\4test\0");
	CHECK(ANSWER_IS(0, "wWw.mEsH.tEsT.\t30\tIN\tNS\tweb.mEsH.tEsT."));
	/* The zone itself, and one label less. */
	ask_in_zone("wWw.mEsH.tEsT", 2, 11, "\0\13\4mesh\4test\0");
	CHECK(ANSWER_IS(0, "wWw.mEsH.tEsT.\t30\tIN\tNS\tmEsH.tEsT."));
	ask_in_zone("wWw.mEsH.tEsT", 2, 6, "\0\6\4test\0");
	CHECK(ANSWER_IS(0, "wWw.mEsH.tEsT.\t30\tIN\tNS\ttest."));
	/* Elsewhere, and of a name that is in no zone. */
	ask_in_zone("wWw.mEsH.tEsT", 2, 15, "\0\17\3web\4mash\4test\0");
	CHECK(ANSWER_IS(0, "wWw.mEsH.tEsT.\t30\tIN\tNS\tweb.mash.test."));
	ask_in_zone("wWw.mEsH.tEsT", 0, 15, "\0\17\3web\4mesh\4test\0");
	CHECK(ANSWER_IS(0, "wWw.mEsH.tEsT.\t30\tIN\tNS\tweb.mesh.test."));
}

/* The SOA of a zone file belongs to the end of the chain, some labels up. */
TEST(test_answer_file_soa)
{
	static const uint8_t soa[] = "\0\30\1n\0\0\0\0\0\7\0\0\0\1\0\0\0\1"
	    "\0\0\0\1\0\0\0\11";

	ask("www.test", TYPE_AAAA, 0);
	t.plan.content = ANSWER_NEGATIVE;
	add(TYPE_CNAME, 1, 0, "\0\17\3web\4mesh\4test\0");
	t.lookup.has_soa = true;
	t.lookup.soa = (struct rrset){
	    .type = TYPE_SOA, .count = 1, .ttl = 30, .rdata = soa};
	t.lookup.soa_labels = 2;
	build(512);
	CHECK(AUTHORITY_IS("mesh.test.\t9\tIN\tSOA\tn. . 7 1 1 1 9"));
	t.lookup.soa_labels = 3;
	build(512);
	CHECK(AUTHORITY_IS("web.mesh.test.\t9\tIN\tSOA\tn. . 7 1 1 1 9"));
	t.lookup.soa_labels = 0;
	build(512);
	CHECK(AUTHORITY_IS(".\t9\tIN\tSOA\tn. . 7 1 1 1 9"));
	/*
	 * image_check() refuses several CNAMEs, since the owner behind them is
	 * none then.  Nobody walks along it all the same.
	 */
	t.lookup.chain[0].count = 2;
	t.lookup.chain[0].rdata = (const uint8_t *)"\0\3\1b\0\0\5\3zzz\0";
	build(512);
	CHECK(answers() == 2 && ldns_pkt_nscount(t.packet) == 0);
}

/* Names below the owner that would pass 255 octets are the owner itself. */
TEST(test_answer_soa_names)
{
	char text[254];
	size_t length;

	memset(text, 'y', sizeof(text));
	text[63] = text[127] = text[191] = '.';
	for (length = 242; length <= 253; length++) {
		const ldns_rr *soa;

		/* Presentation length + 2 is wire length. */
		text[length] = '\0';
		ask(text, TYPE_AAAA, 4096);
		text[length] = 'y';
		t.plan.content = ANSWER_NEGATIVE;
		build(1232);
		CHECK(ldns_pkt_nscount(t.packet) == 1);
		soa = ldns_rr_list_rr(ldns_pkt_authority(t.packet), 0);
		CHECK(ldns_rdf_size(ldns_rr_rdf(soa, 0)) ==
		    (length + 2 + 7 <= 255 ? length + 9 : length + 2));
		CHECK(ldns_rdf_size(ldns_rr_rdf(soa, 1)) ==
		    (length + 2 + 11 <= 255 ? length + 13 : length + 2));
	}
}

/* An SOA without room is left out; the answer is no less true (no TC). */
TEST(test_answer_soa_without_room)
{
	static uint8_t cname[255];

	memset(cname, 1, sizeof(cname));
	cname[254] = 0;
	ask("www.test", TYPE_AAAA, 0);
	t.plan.content = ANSWER_NEGATIVE;
	add(TYPE_CNAME, 1, 255, cname);
	add(TYPE_CNAME, 1, 167, cname + 254 - 166);
	build(512);
	CHECK(answers() == 2);
	CHECK(ldns_pkt_nscount(t.packet) == 0 && !t.summary.truncated);
	CHECK(t.length == 26 + 267 + 179);
}

TEST(test_answer_zone_soa)
{
	ask("mesh.test", TYPE_SOA, 0);
	t.plan.content = ANSWER_SOA;
	t.lookup.entry.in_zone = true;
	t.lookup.entry.zone_labels = 2;
	build(512);
	CHECK(answers() == 1 && ldns_pkt_nscount(t.packet) == 0);
	CHECK(ANSWER_IS(0, "mesh.test.\t5\tIN\tSOA\tns.dns.mesh.test."
	    " hostmaster.mesh.test. 1 7200 1800 86400 5"));
}

int
main(void)
{
	test_run();
	ldns_pkt_free(t.packet);
	return test_summary();
}

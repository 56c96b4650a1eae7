/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers from findings made by hand, read back with ldns.  How whole
 * questions are answered from a table stands in tests/scenarios.
 */
#include "tests/check.h"

#include <stdbool.h>	/* before ldns.h, which else makes a bool of its own */
#include <ldns/ldns.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/answer/answer.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

/* A question with its message, the lookup for it, and the answer. */
static struct {
	uint8_t message[512];
	struct question question;
	struct lookup lookup;
	struct answer_settings settings;
	struct answer_plan plan;
	struct answer_summary summary;
	uint8_t octets[ANSWER_UDP_MAX];
	size_t length;
	ldns_pkt *packet;
} t;

static void
ask(const char *name_text, uint16_t type, unsigned int edns_size)
{
	struct wire_writer w = wire_writer_over(t.message, sizeof(t.message));
	struct dns_name name;

	CHECK(name_from_text(&name, name_text, strlen(name_text)) == 0);
	wire_write_octets(&w, "ID\1\20\0\1\0\0\0\0\0", 11);
	wire_write_u8(&w, edns_size > 0);
	wire_write_octets(&w, name.octets, name.length);
	wire_write_u16(&w, type);
	wire_write_u16(&w, CLASS_IN);
	if (edns_size > 0) {
		wire_write_octets(&w, "\0\0\x29", 3);
		wire_write_u16(&w, (uint16_t)edns_size);
		wire_write_octets(&w, "\0\0\x80\0\0\0", 6);
	}
	question_parse(&t.question, t.message, wire_written(&w));
	CHECK(t.question.form == QUESTION_PLAIN);
	t.lookup = (struct lookup){.entry = {.kind = ENTRY_EXACT}};
	t.settings = (struct answer_settings){ .negative_ttl = 5,
		.udp_size = 1232 };
	t.plan = (struct answer_plan){
	    .question = &t.question,
	    .lookup = &t.lookup,
	    .content = ANSWER_RECORDS,
	    .settings = &t.settings,
	};
}

static void
add(uint16_t type, uint32_t count, uint16_t rdlength, const void *rdata)
{
	t.lookup.chain[t.lookup.chain_length++] = (struct rrset){
	    .type = type,
	    .count = count,
	    .rdlength = rdlength,
	    .ttl = 30,
	    .rdata = rdata,
	};
}

/* Builds in memory of exactly that size, and parses the outcome. */
static void
build(size_t size)
{
	uint8_t *buf = malloc(size);

	if (buf == NULL)
		abort();
	memset(&t.summary, 0xaa, sizeof(t.summary));
	t.length = answer_build(&t.plan, buf, size, &t.summary);
	CHECK(t.length <= size && size <= sizeof(t.octets));
	memcpy(t.octets, buf, t.length);
	free(buf);
	ldns_pkt_free(t.packet);
	t.packet = NULL;
	CHECK(ldns_wire2pkt(&t.packet, t.octets, t.length) == LDNS_STATUS_OK);
}

/* The nth record of a list is this, in ldns' words. */
static bool
record_is(const ldns_rr_list *list, size_t n, const char *text)
{
	char *got;
	bool same;

	if (n >= ldns_rr_list_rr_count(list))
		return false;
	got = ldns_rr2str(ldns_rr_list_rr(list, n));
	got[strcspn(got, "\n")] = '\0';
	same = strcmp(got, text) == 0;
	if (!same)
		printf("  %s\n", got);
	free(got);
	return same;
}

static size_t
answers(void)
{
	CHECK(t.summary.answers == ldns_pkt_ancount(t.packet));
	CHECK(t.summary.truncated == ldns_pkt_tc(t.packet));
	return ldns_pkt_ancount(t.packet);
}

#define ANSWER_IS(n, text) record_is(ldns_pkt_answer(t.packet), n, text)
#define AUTHORITY_IS(text) record_is(ldns_pkt_authority(t.packet), 0, text)

static const uint8_t addresses[400 * 16] = {
	10, 0, 0, 1, 10, 0, 0, 2, 10, 0, 0, 3 };

static void
test_answer_octets(void)
{
	ask("Web.test", TYPE_A, 0);
	add(TYPE_A, 1, 4, addresses);
	build(512);
	CHECK(t.length == 42);
	CHECK(memcmp(t.octets, "ID\x85\x90\0\1\0\1\0\0\0\0"
	    "\3Web\4test\0\0\1\0\1"
	    "\300\14\0\1\0\1\0\0\0\36\0\4\12\0\0\1", 42) == 0);
}

static void
test_answer_flags(void)
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

static void
test_answer_rotation(void)
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
static void
test_answer_counted_rdata(void)
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

static void
test_answer_edns(void)
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

static void
test_answer_sizes(void)
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

static void
test_answer_stream(void)
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

static void
test_answer_chain(void)
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
static void
test_answer_part_rotates(void)
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
static void
test_answer_part_of_counted(void)
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
static void
test_answer_chain_truncated(void)
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

static void
make_search(uint8_t target_length, enum entry_kind kind)
{
	t.lookup.entry.kind = kind;
	t.lookup.entry.target_length = target_length;
}

static void
test_answer_search(void)
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

static void
test_answer_negative(void)
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

static void
test_answer_negative_chain(void)
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
static void
test_answer_negative_long_name(void)
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
static void
test_answer_zone_case(void)
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
static void
test_answer_file_soa(void)
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
static void
test_answer_soa_names(void)
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
static void
test_answer_soa_without_room(void)
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

static void
test_answer_zone_soa(void)
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

static void
test_answer_text(void)
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
static void
test_answer_without_question(void)
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
	TEST(test_answer_octets);
	TEST(test_answer_flags);
	TEST(test_answer_rotation);
	TEST(test_answer_counted_rdata);
	TEST(test_answer_edns);
	TEST(test_answer_sizes);
	TEST(test_answer_stream);
	TEST(test_answer_chain);
	TEST(test_answer_chain_truncated);
	TEST(test_answer_part_rotates);
	TEST(test_answer_part_of_counted);
	TEST(test_answer_search);
	TEST(test_answer_negative);
	TEST(test_answer_negative_chain);
	TEST(test_answer_negative_long_name);
	TEST(test_answer_zone_case);
	TEST(test_answer_file_soa);
	TEST(test_answer_soa_names);
	TEST(test_answer_soa_without_room);
	TEST(test_answer_zone_soa);
	TEST(test_answer_text);
	TEST(test_answer_without_question);
	ldns_pkt_free(t.packet);
	return test_summary();
}

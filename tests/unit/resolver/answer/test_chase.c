/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chains that a nameserver's answer completes; ldns reads what comes out. */
#include <stdbool.h>	/* before ldns.h, which else makes a bool of its own */
#include <ldns/ldns.h>

#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/answer/answer.h"
#include "resolver/answer/chase.h"
#include "resolver/dns/rr.h"
#include "tests/unit/resolver/answer/record_is.h"

#define ASKED "\3www\4mesh\4test\0"
#define TARGET "\3far\7example\0"

static struct {
	struct question question;
	struct chase chase;
	uint8_t chain[1024], query[CHASE_QUESTION_MAX];
	size_t query_length;
	uint8_t reply[65535];
	size_t reply_length;
	uint8_t out[65535];
	size_t length;
	ldns_pkt *packet;
} t;

/* The chain WWW.mesh.test CNAME far.example as answer_build() writes it. */
static void
begin(uint16_t type, bool edns)
{
	static uint8_t message[64] = "ID\1\20\0\1\0\0\0\0\0\0"
	    "\3WWW\4mesh\4test\0";
	struct lookup lookup = {.chain_length = 1,
	    .leaves_table = true,
	    .chain[0] = {.type = TYPE_CNAME,
		.count = 1,
		.ttl = 30,
		.rdlength = sizeof(TARGET) - 1,
		.rdata = (const uint8_t *)TARGET}};
	const struct answer_settings settings = { .udp_size = 1232, .tcp = 1 };
	struct answer_plan plan = {.question = &t.question,
	    .lookup = &lookup,
	    .content = ANSWER_CHAIN,
	    .settings = &settings,
	    .stream = true};
	struct answer_summary summary;
	size_t length = 12 + sizeof(ASKED) - 1;

	message[length++] = (uint8_t)(type >> 8);
	message[length++] = (uint8_t)type;
	message[length++] = 0;
	message[length++] = 1;
	message[11] = edns;
	if (edns) {
		memcpy(message + length, "\0\0\51\4\320\0\0\200\0\0\0", 11);
		length += 11;
	}
	question_parse(&t.question, message, length);
	CHECK(t.question.form == QUESTION_PLAIN);
	t.chase = (struct chase){ .chain = t.chain,
		.opt = chase_opt(edns, 0) };
	t.chase.length = answer_build(&plan, t.chain, sizeof(t.chain),
	    &summary);
	t.chase.target = summary.target;
	CHECK(!summary.truncated && summary.answers == 1);
	t.query_length = chase_question(&t.chase, &t.question, 0x1234, t.query);
}

/* A reply without records yet: the query with QR, and that code. */
static void
reply(uint8_t rcode)
{
	size_t opt = t.chase.opt;

	t.reply_length = t.query_length - opt;
	memcpy(t.reply, t.query, t.reply_length);
	t.reply[2] |= 0x80;
	t.reply[3] = (uint8_t)(0x80 | rcode);
	t.reply[11] = 0;
}

static void
put(const void *octets, size_t length)
{
	memcpy(t.reply + t.reply_length, octets, length);
	t.reply_length += length;
}

/* A record of a section, 0 to 2; its owner is as given. */
static void
put_record(int section, const char *owner, size_t owner_length, uint16_t type,
    const void *rdata, size_t rdlength)
{
	const uint8_t head[] = { (uint8_t)(type >> 8), (uint8_t)type, 0, 1,
		0, 0, 0, 60, (uint8_t)(rdlength >> 8), (uint8_t)rdlength };
	uint8_t *count = t.reply + 6 + 2 * section;

	put(owner, owner_length);
	put(head, sizeof(head));
	put(rdata, rdlength);
	if (++count[1] == 0)
		count[0]++;
}
#define PUT(section, owner, type, rdata) put_record(section, owner,	\
	sizeof(owner) - 1, type, rdata, sizeof(rdata) - 1)

static int
join(size_t size)
{
	int error;

	ldns_pkt_free(t.packet);
	t.packet = NULL;
	t.length = 0;
	error = chase_join(&t.chase, t.reply, t.reply_length, t.out, size,
	    &t.length);
	CHECK(t.length <= size);
	if (error == 0)
		CHECK(ldns_wire2pkt(&t.packet, t.out, t.length) ==
		    LDNS_STATUS_OK);
	return error;
}

#define ANSWER_IS(n, text) record_is(ldns_pkt_answer(t.packet), n, text)
#define CNAME_TEXT "WWW.mesh.test.\t30\tIN\tCNAME\tfar.example."

TEST(test_chase_question)
{
	begin(TYPE_AAAA, false);
	CHECK(t.query_length == 29);
	CHECK(memcmp(t.query, "\22\64\1\20\0\1\0\0\0\0\0\0" TARGET
	    "\0\34\0\1", 29) == 0);
	begin(TYPE_A, true);
	CHECK(t.query_length == 40);
	CHECK(memcmp(t.query + 29, "\0\0\51\377\377\0\0\200\0\0\0", 11) == 0);
	CHECK(t.query[11] == 1);
}

TEST(test_chase_addresses)
{
	for (int edns = 0; edns < 2; edns++) {
		begin(TYPE_A, edns);
		reply(0);
		PUT(0, "\300\14", TYPE_A, "\12\0\0\1");
		PUT(0, "\300\14", TYPE_A, "\12\0\0\2");
		if (edns)
			put_record(2, "", 1, TYPE_OPT, "", 0);
		CHECK(join(65535) == 0);
		CHECK(ldns_pkt_id(t.packet) == ('I' << 8 | 'D'));
		CHECK(ldns_pkt_aa(t.packet) && ldns_pkt_ra(t.packet));
		CHECK(ldns_pkt_cd(t.packet) && !ldns_pkt_tc(t.packet));
		CHECK(ldns_pkt_ancount(t.packet) == 3);
		CHECK(ANSWER_IS(0, CNAME_TEXT));
		CHECK(ANSWER_IS(1, "far.example.\t60\tIN\tA\t10.0.0.1"));
		CHECK(ANSWER_IS(2, "far.example.\t60\tIN\tA\t10.0.0.2"));
		CHECK(ldns_pkt_edns(t.packet) == edns);
		CHECK(!edns || ldns_pkt_edns_do(t.packet));
		/* The owners are pointers again. */
		CHECK(t.length == t.chase.length + 2 * 16);
	}
}

/* The nameserver's own chain, names compressed in each way, signatures. */
TEST(test_chase_other_records)
{
	begin(TYPE_A, true);
	reply(0);
	PUT(0, "\300\14", TYPE_CNAME, "\4next\300\20");
	PUT(0, "\300\51", TYPE_MX, "\0\12\300\14");
	PUT(0, "\4next\300\20", TYPE_SRV, "\0\1\0\2\0\3\300\51");
	PUT(0, "\300\51", TYPE_RRSIG, "\0\1\15\2\0\0\0\74\0\0\0\2\0\0\0\1"
	    "\0\7\7example\0signature");
	PUT(1, "\300\20", TYPE_SOA, "\2ns\300\20\300\14"
	    "\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5");
	PUT(2, "\300\20", 65280, "\300\14opaque");
	CHECK(join(65535) == 0);
	CHECK(ldns_pkt_ancount(t.packet) == 5);
	CHECK(ANSWER_IS(1, "far.example.\t60\tIN\tCNAME\tnext.example."));
	CHECK(ANSWER_IS(2, "next.example.\t60\tIN\tMX\t10 far.example."));
	CHECK(ANSWER_IS(3, "next.example.\t60\tIN\tSRV\t1 2 3 next.example."));
	CHECK(ldns_rr_get_type(ldns_rr_list_rr(ldns_pkt_answer(t.packet), 4))
	    == LDNS_RR_TYPE_RRSIG);
	CHECK(record_is(ldns_pkt_authority(t.packet), 0, "example.\t60\tIN\t"
	    "SOA\tns.example. far.example. 1 2 3 4 5"));
	CHECK(record_is(ldns_pkt_additional(t.packet), 0, "example.\t60\tIN\t"
	    "TYPE65280\t\\# 8 c00c6f7061717565"));
}

/* What the nameserver says of the target is said of the chain. */
TEST(test_chase_errors)
{
	begin(TYPE_A, false);
	reply(RCODE_NXDOMAIN);
	PUT(1, "\300\20", TYPE_SOA, "\300\14\300\14"
	    "\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5");
	CHECK(join(65535) == 0);
	CHECK(ldns_pkt_get_rcode(t.packet) == LDNS_RCODE_NXDOMAIN);
	CHECK(ldns_pkt_ancount(t.packet) == 1 && ANSWER_IS(0, CNAME_TEXT));
	CHECK(ldns_pkt_nscount(t.packet) == 1);

	reply(RCODE_SERVFAIL);
	CHECK(join(65535) == 0 && ANSWER_IS(0, CNAME_TEXT));
	CHECK(ldns_pkt_get_rcode(t.packet) == LDNS_RCODE_SERVFAIL);

	/* BADVERS to who knows no EDNS, and to who does. */
	for (int edns = 0; edns < 2; edns++) {
		begin(TYPE_A, edns);
		reply(0);
		put("\0\0\51\4\320\1\0\0\0\0\0", 11);
		t.reply[11] = 1;
		CHECK(join(65535) == 0);
		CHECK(ldns_pkt_get_rcode(t.packet) ==
		    (edns ? 0 : LDNS_RCODE_SERVFAIL));
		CHECK(ldns_pkt_edns_extended_rcode(t.packet) == edns);
	}

	begin(TYPE_A, true);
	CHECK(chase_fail(&t.chase, t.out) == t.chase.length);
	CHECK((t.out[3] & 15) == RCODE_SERVFAIL);
	CHECK(memcmp(t.out + 4, t.chain + 4, t.chase.length - 4) == 0);
}

TEST(test_chase_malformed)
{
	static const struct {
		const char *octets;
		size_t length;
	} bad[] = {
#define BAD(text) { text, sizeof(text) - 1 }
		BAD(""),
		BAD("\300"),
		BAD("\300\51\0\1\0\1\0\0\0\0\0\4\12\0\0\1"),	/* to itself */
		BAD("\300\13\0\1\0\1\0\0\0\0\0\4\12\0\0\1"),	/* the header */
		BAD("\377\377\0\1\0\1\0\0\0\0\0\4\12\0\0\1"),
		BAD("\100\14\0\1\0\1\0\0\0\0\0\4\12\0\0\1"),
		BAD("\300\14\0\1\0\1\0\0\0\0\0\5\12\0\0\1\0"),
		BAD("\300\14\0\1\0\1\0\0\0\0\0\4\12\0\0"),
		BAD("\300\14\0\5\0\1\0\0\0\0\0\1\300\14"),
		BAD("\300\14\0\5\0\1\0\0\0\0\0\3\300\14\0"),
		BAD("\300\14\0\5\0\1\0\0\0\0\0\2\1a\0\0"),
		BAD("\0\0\51\4\320\0\0\0\0\0\0"),	/* OPT as an answer */
		BAD("\0\0\372\0\377\0\0\0\0\0\0"),
#undef BAD
	};

	begin(TYPE_A, false);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		reply(0);
		t.reply[7] = 1;
		put(bad[i].octets, bad[i].length);
		CHECK(join(65535) == -EBADMSG);
	}
	reply(0);
	for (t.reply_length = 0; t.reply_length < 29; t.reply_length++)
		CHECK(join(65535) == -EBADMSG);
	t.reply[5] = 2;
	CHECK(join(65535) == -EBADMSG);
	reply(0);
	t.reply[2] &= 0x7f;			/* a question */
	CHECK(join(65535) == -EBADMSG);
}

/* Pointers to pointers, in data that mean nothing by themselves. */
TEST(test_chase_long_names)
{
	static uint8_t pointers[2 * 200] = "\300\14";

	begin(TYPE_A, false);
	reply(0);
	/* Behind the owner and the fixed part of the first record. */
	for (unsigned int n = 1; n < 200; n++) {
		size_t before = t.reply_length + 12 + 2 * (n - 1);

		pointers[2 * n] = (uint8_t)(0xc0 | before >> 8);
		pointers[2 * n + 1] = (uint8_t)before;
	}
	put_record(0, "\300\14", 2, 65280, pointers, sizeof(pointers));
	CHECK(join(65535) == 0);
	put_record(0, (char *)pointers + 2 * 120, 2, TYPE_A, "\12\0\0\1", 4);
	CHECK(join(65535) == 0);
	CHECK(ANSWER_IS(2, "far.example.\t60\tIN\tA\t10.0.0.1"));
	put_record(0, (char *)pointers + 2 * 199, 2, TYPE_A, "\12\0\0\1", 4);
	CHECK(join(65535) == -EBADMSG);
}

/* More names than are remembered: the eldest are written whole again. */
TEST(test_chase_many_names)
{
	char owner[] = "\4n000\300\20", text[64];

	begin(TYPE_A, false);
	reply(0);
	for (unsigned int n = 0; n < 300; n++) {
		(void)snprintf(owner + 1, 5, "n%03u", n);
		owner[5] = '\300';
		put_record(0, owner, 7, TYPE_A, "\12\0\0\1", 4);
	}
	CHECK(join(65535) == 0 && ldns_pkt_ancount(t.packet) == 301);
	for (unsigned int n = 0; n < 300; n++) {
		(void)snprintf(text, sizeof(text),
		    "n%03u.example.\t60\tIN\tA\t10.0.0.1", n);
		CHECK(ANSWER_IS(n + 1, text));
	}
}

TEST(test_chase_sizes)
{
	static char many[3500][4];
	size_t n;

	begin(TYPE_A, true);
	reply(0);
	for (n = 0; n < 3500; n++)
		put_record(0, "\300\14", 2, TYPE_A, many[n], 4);
	CHECK(join(65535) == 0);
	CHECK(ldns_pkt_ancount(t.packet) == 3501);
	n = t.length;
	CHECK(join(n) == 0);
	CHECK(join(n - 1) == -EMSGSIZE);
	CHECK(join(t.chase.length) == -EMSGSIZE);
	/* What was cut over TCP, too, is said to be. */
	t.reply[2] |= 2;
	CHECK(join(65535) == 0 && ldns_pkt_tc(t.packet));
}

/*
 * As many records as there is room for, whose owners and data lead to the name
 * that the first one holds: labels of one octet, each but the last followed by
 * a pointer to the one before.
 */
static void
reply_of_pointers(unsigned int labels)
{
	const size_t start = t.query_length + 11;
	uint8_t names[4 * NAME_MAX_LABELS] = "\1a";
	size_t length = 3, last = start;
	char owner[2], data[2];

	for (unsigned int n = 1; n < labels; n++) {
		const uint8_t name[] = { 1, 'a', (uint8_t)(0xc0 | last >> 8),
			(uint8_t)last };

		memcpy(names + length, name, sizeof(name));
		last = start + length;
		length += sizeof(name);
	}
	owner[0] = data[0] = (char)(0xc0 | last >> 8);
	owner[1] = data[1] = (char)last;
	begin(TYPE_A, false);
	reply(0);
	put_record(0, "", 1, 65280, names, length);
	while (t.reply_length + 14 < sizeof(t.reply) - t.chase.length)
		put_record(0, owner, 2, TYPE_NS, data, 2);
}

/* The time that it takes is bounded, by far less than what names can be. */
TEST(test_chase_costly_names)
{
	begin(TYPE_A, false);
	reply_of_pointers(3);
	CHECK(join(65535) == 0);
	reply_of_pointers(100);
	CHECK(join(65535) == -EBADMSG);
}

int
main(void)
{
	test_run();
	ldns_pkt_free(t.packet);
	return test_summary();
}

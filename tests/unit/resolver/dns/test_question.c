/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "resolver/dns/question.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define HEADER(flags, qd, an, ns, ar)					\
	"\x4d\x45" flags "\0" qd "\0" an "\0" ns "\0" ar
#define RD	"\1\0"
#define NAME	"\4HoSt\4mesh\4test\0"
#define IN_A	"\0\1\0\1"
#define PLAIN(ar) HEADER(RD, "\1", "\0", "\0", ar) NAME IN_A
/* Type, class, TTL and rdlength follow the owner. */
#define OPT(rdlength) "\0\0\x29\x10\0\0\0\x80\0" rdlength
#define RECORD_A(owner) owner "\0\1\0\1\0\0\0\5\0\4\1\2\3\4"

static struct question parsed;

#define ROOM 4096

/*
 * Parses a copy that ends where a page begins that nobody may read, so that one
 * octet too many is a crash; the views into it are compared before it goes.
 */
static enum question_form
parse(const char *message, size_t length)
{
	static uint8_t *end;
	uint8_t *copy;

	if (end == NULL) {
		uint8_t *pages = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (pages == MAP_FAILED ||
		    mprotect(pages + ROOM, ROOM, PROT_NONE) != 0)
			abort();
		end = pages + ROOM;
	}
	copy = end - length;
	memcpy(copy, message, length);
	memset(&parsed, 0xaa, sizeof(parsed));
	question_parse(&parsed, copy, length);
	if (parsed.wire_length > 0) {
		CHECK(parsed.wire == copy + 12);
		CHECK(12 + parsed.wire_length <= length);
	}
	parsed.wire = NULL;
	return parsed.form;
}

#define PARSE(literal) parse(literal, sizeof(literal) - 1)

TEST(test_question_plain)
{
	CHECK(PARSE(PLAIN("\0")) == QUESTION_PLAIN);
	CHECK(parsed.id == 0x4d45 && parsed.flags == 0x0100);
	CHECK(parsed.type == TYPE_A && parsed.class == CLASS_IN);
	CHECK(parsed.name.length == 16 && parsed.name.labels == 3);
	CHECK(memcmp(parsed.name.octets, "\4host\4mesh\4test", 16) == 0);
	CHECK(parsed.wire_length == 20);
	CHECK(!parsed.edns.present);
	/* The root, and octets behind the message. */
	CHECK(PARSE(HEADER(RD, "\1", "\0", "\0", "\0") "\0\0\2\0\1") ==
	    QUESTION_PLAIN);
	CHECK(parsed.name.length == 1 && parsed.type == TYPE_NS);
	CHECK(PARSE(PLAIN("\0") "\377\377\377") == QUESTION_PLAIN);
	CHECK(parsed.wire_length == 20);
}

/* Every prefix of a whole message lacks something. */
TEST(test_question_cut)
{
	static const char message[] = PLAIN("\1") OPT("\0\10")
	    "\0\12\0\4abcd";
	size_t length;

	CHECK(parse(message, sizeof(message) - 1) == QUESTION_PLAIN);
	for (length = 0; length < sizeof(message) - 1; length++) {
		CHECK(parse(message, length) == QUESTION_MALFORMED);
		/* What is cut is behind the question, or it is one no more. */
		CHECK(parsed.readable == (length >= 12 + 20));
		CHECK(parsed.wire_length == (parsed.readable ? 20 : 0));
		CHECK(!parsed.edns.present);
	}
}

static bool
is_readable(const char *name)
{
	struct dns_name wanted;

	CHECK(name_from_text(&wanted, name, strlen(name)) == 0);
	return parsed.readable && parsed.type == TYPE_A &&
	    name_equal(&parsed.name, &wanted);
}

/* Some server finds a question in each of these: policies judge it. */
TEST(test_question_is_readable_in_any_form)
{
#define WHOLE	"host.mesh.test"
#define QUESTION_OF(flags, qd, ar) HEADER(flags, qd, "\0", "\0", ar) NAME IN_A
	CHECK(PARSE(QUESTION_OF("\x81\0", "\1", "\0")) == QUESTION_RESPONSE);
	CHECK(is_readable(WHOLE) && parsed.wire_length == 0);
	CHECK(PARSE(QUESTION_OF("\x28\0", "\1", "\0")) == QUESTION_OPCODE);
	CHECK(is_readable(WHOLE) && parsed.wire_length == 20);
	CHECK(PARSE(QUESTION_OF(RD, "\7", "\0")) == QUESTION_MANY);
	CHECK(is_readable(WHOLE) && parsed.wire_length == 0);
	CHECK(PARSE(QUESTION_OF(RD, "\1", "\1")) == QUESTION_MALFORMED);
	CHECK(is_readable(WHOLE) && parsed.wire_length == 20);
	CHECK(PARSE(HEADER(RD, "\1", "\0", "\0", "\0") NAME "\0\1\0\377") ==
	    QUESTION_CLASS);
	CHECK(is_readable(WHOLE) && parsed.class == 255);
	CHECK(PARSE(HEADER(RD, "\0", "\0", "\0", "\0") NAME IN_A) ==
	    QUESTION_NONE);
	CHECK(!parsed.readable);
	CHECK(PARSE(HEADER(RD, "\2", "\0", "\0", "\0")) == QUESTION_MANY);
	CHECK(!parsed.readable);
}

/* As dnsmasq reads them: to the header's zeros, ahead, and more than one. */
TEST(test_question_name_with_pointers)
{
#define FRONT HEADER(RD, "\1", "\0", "\0", "\0")
	CHECK(PARSE(FRONT "\4HoSt\4mesh\4test\xc0\x08" IN_A) ==
	    QUESTION_MALFORMED);
	CHECK(is_readable(WHOLE) && parsed.wire_length == 0);
	CHECK(PARSE(FRONT "\xc0\x12" IN_A NAME) == QUESTION_MALFORMED);
	CHECK(is_readable(WHOLE));
	CHECK(PARSE(FRONT "\4HoSt\xc0\x17" IN_A "\xc0\x19\4mesh\4test\0") ==
	    QUESTION_MALFORMED);
	CHECK(is_readable(WHOLE));
	CHECK(PARSE(FRONT "\xc0\x08" IN_A) == QUESTION_MALFORMED);
	CHECK(is_readable("."));
	/* In a circle, out of the message, cut, of no type. */
	CHECK(PARSE(FRONT "\xc0\x0c" IN_A) == QUESTION_MALFORMED);
	CHECK(!parsed.readable);
	CHECK(PARSE(FRONT "\4HoSt\xc0\x0c" IN_A) == QUESTION_MALFORMED);
	CHECK(!parsed.readable);
	CHECK(PARSE(FRONT "\xff\xff" IN_A) == QUESTION_MALFORMED);
	CHECK(!parsed.readable);
	CHECK(PARSE(FRONT "\4HoSt\xc0") == QUESTION_MALFORMED);
	CHECK(!parsed.readable);
	CHECK(PARSE(FRONT "\xc0\x08\0\1\0") == QUESTION_MALFORMED);
	CHECK(!parsed.readable);
	CHECK(PARSE(FRONT "\xc0\x12" IN_A "\4HoSt\4mes") == QUESTION_MALFORMED);
	CHECK(!parsed.readable);
	CHECK(PARSE(FRONT "\xc0\x12" IN_A "\x41z\0") == QUESTION_MALFORMED);
	CHECK(!parsed.readable);
}

/* What the header says is said whatever follows, and in this order. */
TEST(test_question_header_forms)
{
	CHECK(PARSE(HEADER("\x81\x80", "\1", "\1", "\0", "\0")) ==
	    QUESTION_RESPONSE);
	CHECK(PARSE(HEADER("\xa8\0", "\2", "\0", "\0", "\0")) ==
	    QUESTION_RESPONSE);
	CHECK(PARSE(HEADER("\x28\0", "\0", "\0", "\0", "\0")) ==
	    QUESTION_OPCODE);
	CHECK(PARSE(HEADER("\x08\0", "\2", "\0", "\0", "\0")) ==
	    QUESTION_OPCODE);
	CHECK(PARSE(HEADER(RD, "\0", "\0", "\0", "\1") OPT("\0\0")) ==
	    QUESTION_NONE);
	CHECK(PARSE(HEADER(RD, "\2", "\0", "\0", "\0")) == QUESTION_MANY);
	CHECK(parsed.id == 0x4d45 && parsed.flags == 0x0100);
	CHECK(parsed.wire_length == 0);
	CHECK(PARSE("ID\1\0\377\377\0\0\0\0\0\0") == QUESTION_MANY);
}

TEST(test_question_classes)
{
	CHECK(PARSE(HEADER(RD, "\1", "\0", "\0", "\0") NAME "\0\20\0\3") ==
	    QUESTION_CHAOS);
	CHECK(parsed.class == CLASS_CH && parsed.type == TYPE_TXT);
	CHECK(PARSE(HEADER(RD, "\1", "\0", "\0", "\0") NAME "\0\1\0\4") ==
	    QUESTION_CLASS);
	CHECK(parsed.wire_length == 20);
	CHECK(PARSE(HEADER(RD, "\1", "\0", "\0", "\0") NAME "\0\1\0\377") ==
	    QUESTION_CLASS);
	CHECK(PARSE(HEADER(RD, "\1", "\0", "\0", "\0") NAME "\0\1\1\1") ==
	    QUESTION_CLASS);
	CHECK(PARSE(HEADER(RD, "\1", "\0", "\0", "\2") NAME "\0\20\0\3"
	    OPT("\0\0") OPT("\0\0")) == QUESTION_CLASS);
}

TEST(test_question_name)
{
#define Q(name) HEADER(RD, "\1", "\0", "\0", "\0") name IN_A
	CHECK(PARSE(Q("\300\14")) == QUESTION_MALFORMED);
	CHECK(PARSE(Q("\1a\300\14")) == QUESTION_MALFORMED);
	CHECK(PARSE(Q("\100a")) == QUESTION_MALFORMED);
	CHECK(PARSE(Q("\200a")) == QUESTION_MALFORMED);
	CHECK(PARSE(Q("\1a\1")) == QUESTION_MALFORMED);
	CHECK(PARSE(Q("\3a\0b\1.\0")) == QUESTION_PLAIN);
	CHECK(parsed.name.labels == 2);
#undef Q
}

TEST(test_question_opt)
{
	CHECK(PARSE(PLAIN("\1") OPT("\0\0")) == QUESTION_PLAIN);
	CHECK(parsed.edns.present && parsed.edns.udp_size == 4096);
	CHECK(parsed.edns.dnssec_ok && parsed.edns.version == 0);
	/* Nothing of it is left in the next question. */
	CHECK(PARSE(PLAIN("\0")) == QUESTION_PLAIN);
	CHECK(!parsed.edns.present && !parsed.edns.dnssec_ok);
	CHECK(parsed.edns.udp_size == 0);
	CHECK(PARSE(PLAIN("\1") "\0\0\x29\0\1\xff\7\x7f\xff\0\0") ==
	    QUESTION_PLAIN);
	CHECK(parsed.edns.version == 7 && !parsed.edns.dnssec_ok);
	CHECK(parsed.edns.udp_size == 1);
	CHECK(PARSE(PLAIN("\1") OPT("\0\11") "\0\12\0\0\0\3\0\1x") ==
	    QUESTION_PLAIN);
	/* Overrun, and three stray octets: RFC 6891 section 6.1.2. */
	CHECK(PARSE(PLAIN("\1") OPT("\0\5") "\0\12\0\2x") ==
	    QUESTION_MALFORMED);
	CHECK(PARSE(PLAIN("\1") OPT("\0\3") "\0\12\0") == QUESTION_MALFORMED);
	CHECK(PARSE(PLAIN("\1") OPT("\0\5") "\0\12\0\0x") ==
	    QUESTION_MALFORMED);
	CHECK(PARSE(PLAIN("\1") OPT("\0\4") "\0\13\0\0") == QUESTION_PLAIN);
	CHECK(parsed.edns.keepalive && !parsed.edns.padding);
	/* Both octets of code and length count. */
	CHECK(PARSE(PLAIN("\1") OPT("\0\10") "\1\13\0\0\2\14\0\0") ==
	    QUESTION_PLAIN);
	CHECK(!parsed.edns.keepalive && !parsed.edns.padding);
	CHECK(PARSE(PLAIN("\1") OPT("\0\10") "\0\14\1\0\0\13\0\0") ==
	    QUESTION_MALFORMED);
	/* A later version's options are not ours to read. */
	CHECK(PARSE(PLAIN("\1") "\0\0\x29\4\xd0\0\1\0\0\0\3\0\12\0") ==
	    QUESTION_PLAIN);
	CHECK(PARSE(PLAIN("\1") "\1a" OPT("\0\0")) == QUESTION_MALFORMED);
	CHECK(PARSE(HEADER(RD, "\1", "\1", "\0", "\0") NAME IN_A OPT("\0\0"))
	    == QUESTION_MALFORMED);
	CHECK(PARSE(HEADER(RD, "\1", "\0", "\1", "\0") NAME IN_A OPT("\0\0"))
	    == QUESTION_MALFORMED);
}

TEST(test_question_two_opt)
{
	CHECK(PARSE(PLAIN("\2") OPT("\0\0") OPT("\0\0")) == QUESTION_TWO_OPT);
	CHECK(!parsed.edns.present && parsed.wire_length == 20);
	CHECK(PARSE(PLAIN("\3") OPT("\0\0") RECORD_A("\0") OPT("\0\0")) ==
	    QUESTION_TWO_OPT);
	CHECK(PARSE(PLAIN("\3") OPT("\0\0") OPT("\0\0")) ==
	    QUESTION_MALFORMED);
}

TEST(test_question_signed)
{
#define TSIG "\3key\0\0\xfa\0\xff\0\0\0\0\0\0"
	CHECK(PARSE(PLAIN("\1") TSIG) == QUESTION_SIGNED);
	CHECK(parsed.wire_length == 20 && parsed.readable);
	CHECK(PARSE(PLAIN("\2") OPT("\0\0") TSIG) == QUESTION_SIGNED);
	CHECK(parsed.edns.present == false);
	CHECK(PARSE(PLAIN("\2") TSIG OPT("\0\0")) == QUESTION_MALFORMED);
	CHECK(PARSE(PLAIN("\2") TSIG TSIG) == QUESTION_MALFORMED);
	CHECK(PARSE(PLAIN("\3") OPT("\0\0") OPT("\0\0") TSIG) ==
	    QUESTION_SIGNED);
	/* SIG(0), and a SIG that covers a type. */
	CHECK(PARSE(PLAIN("\1") "\0\0\x18\0\xff\0\0\0\0\0\3\0\0x") ==
	    QUESTION_SIGNED);
	CHECK(PARSE(PLAIN("\1") "\0\0\x18\0\xff\0\0\0\0\0\3\0\1x") ==
	    QUESTION_PLAIN);
	CHECK(PARSE(PLAIN("\1") "\0\0\x18\0\xff\0\0\0\0\0\2\0\0") ==
	    QUESTION_SIGNED);
#undef TSIG
}

TEST(test_question_other_records)
{
	CHECK(PARSE(HEADER(RD, "\1", "\1", "\1", "\1") NAME IN_A
	    RECORD_A("\300\14") RECORD_A("\1a\300\21") RECORD_A("\300\60")) ==
	    QUESTION_PLAIN);
	CHECK(PARSE(HEADER(RD, "\1", "\1", "\0", "\0") NAME IN_A) ==
	    QUESTION_MALFORMED);
	CHECK(PARSE("ID\1\0\0\1\0\0\377\377\0\0" NAME IN_A RECORD_A("\0")) ==
	    QUESTION_MALFORMED);
}

/* The owner of the only record starts at offset 32. */
TEST(test_question_pointers)
{
	CHECK(PARSE(PLAIN("\1") RECORD_A("\300\14")) == QUESTION_PLAIN);
	CHECK(PARSE(PLAIN("\1") RECORD_A("\300\40")) == QUESTION_MALFORMED);
	CHECK(PARSE(PLAIN("\1") RECORD_A("\300\42\1a\0")) ==
	    QUESTION_MALFORMED);
	/* Into the header, where a zero would make a root of it. */
	CHECK(PARSE(PLAIN("\1") RECORD_A("\300\12")) == QUESTION_MALFORMED);
	CHECK(PARSE(PLAIN("\1") RECORD_A("\377\377")) == QUESTION_MALFORMED);
	/* By way of a label that runs into the pointer again. */
	CHECK(PARSE(PLAIN("\1") RECORD_A("\1a\300\40")) == QUESTION_MALFORMED);
	CHECK(PARSE(PLAIN("\1") RECORD_A("\100a\0")) == QUESTION_MALFORMED);
	/* Half a pointer, and a whole one with nothing behind it. */
	CHECK(PARSE(PLAIN("\1") "\300") == QUESTION_MALFORMED);
	CHECK(PARSE(PLAIN("\1") "\300\14") == QUESTION_MALFORMED);
}

/*
 * The second owner is in the data of the record before it, and ends in its own,
 * with the message's last octet; a label further it would be cut off.
 */
TEST(test_question_owner_at_the_end)
{
#define AROUND "\0\0\1\0\1\0\0\0\0\0\1\17" "\300\53\0\1\0\1\0\0\0\0\0"
	CHECK(PARSE(PLAIN("\2") AROUND "\4abc\0") == QUESTION_PLAIN);
	CHECK(PARSE(PLAIN("\2") AROUND "\4abc\1") == QUESTION_MALFORMED);
	CHECK(PARSE(PLAIN("\2") AROUND "\4abc\300") == QUESTION_MALFORMED);
	CHECK(PARSE(PLAIN("\2") AROUND "\5abc\300\14") == QUESTION_PLAIN);
	CHECK(PARSE(PLAIN("\2") AROUND "\5abc\300\60") == QUESTION_MALFORMED);
#undef AROUND
}

/* Records whose owners are one chain of pointers: a few are odd, but whole. */
TEST(test_question_pointer_chain)
{
	uint8_t message[2048];
	struct wire_writer w = wire_writer_over(message, sizeof(message));
	unsigned int i, before = 12;

	wire_write_octets(&w, PLAIN("\170"), 32);
	for (i = 0; i < 120; i++) {
		unsigned int here = (unsigned int)wire_written(&w);

		wire_write_u16(&w, (uint16_t)(0xc000 | before));
		wire_write_octets(&w, "\0\1\0\1\0\0\0\0\0\0", 10);
		before = here;
	}
	CHECK(!w.full);
	CHECK(parse((const char *)message, wire_written(&w)) ==
	    QUESTION_MALFORMED);
	message[11] = 4;
	CHECK(parse((const char *)message, wire_written(&w)) ==
	    QUESTION_PLAIN);
}

/* Labels, the last of that many octets, and then "rest"; an owner in all. */
static enum question_form
parse_owner(uint8_t last, const char *rest, size_t length)
{
	static const uint8_t fill[NAME_MAX_LABEL];
	uint8_t message[512];
	struct wire_writer w = wire_writer_over(message, sizeof(message));

	wire_write_octets(&w, PLAIN("\1"), 32);
	for (int i = 0; i < 3; i++) {
		wire_write_u8(&w, NAME_MAX_LABEL);
		wire_write_octets(&w, fill, NAME_MAX_LABEL);
	}
	wire_write_u8(&w, last);
	wire_write_octets(&w, fill, last);
	wire_write_octets(&w, rest, length);
	wire_write_octets(&w, "\0\1\0\1\0\0\0\0\0\0", 10);
	return parse((const char *)message, wire_written(&w));
}

/* An owner by way of a pointer to the root that begins octet 256 + 45. */
static enum question_form
parse_far(void)
{
	uint8_t message[512];
	struct wire_writer w = wire_writer_over(message, sizeof(message));

	memset(message, 0xff, sizeof(message));
	wire_write_octets(&w, PLAIN("\2") "\0\0\1\0\1\0\0\0\0\1\3", 43);
	(void)wire_reserve(&w, 259);
	message[256 + 45] = 0;
	wire_write_octets(&w, "\301\55\0\1\0\1\0\0\0\0\0\0", 12);
	return parse((const char *)message, wire_written(&w));
}

/* Owners of 255 octets and of 256: by themselves, with NAME and its end. */
TEST(test_question_owner_length)
{
	CHECK(parse_owner(255 - 193 - 1, "\0", 1) == QUESTION_PLAIN);
	CHECK(parse_owner(255 - 193, "\0", 1) == QUESTION_MALFORMED);
	CHECK(parse_owner(255 - 193 - 16, "\300\14", 2) == QUESTION_PLAIN);
	CHECK(parse_owner(256 - 193 - 16, "\300\14", 2) ==
	    QUESTION_MALFORMED);
	/* Past the first 256 octets of a message, too. */
	CHECK(parse_far() == QUESTION_PLAIN);
	CHECK(parse_owner(255 - 193 - 11, "\300\21", 2) == QUESTION_PLAIN);
	CHECK(parse_owner(256 - 193 - 11, "\300\21", 2) ==
	    QUESTION_MALFORMED);
}

/* A question and "records" bare ones behind it. */
static enum question_form
parse_records(uint16_t records)
{
	static uint8_t message[4096];
	struct wire_writer w = wire_writer_over(message, sizeof(message));

	wire_write_octets(&w, PLAIN("\0"), 32);
	wire_store_u16(message + 10, records);
	for (; records > 0; records--)
		wire_write_octets(&w, "\0\0\1\0\1\0\0\0\0\0\0", 11);
	CHECK(!w.full);
	return parse((const char *)message, wire_written(&w));
}

/* A question and an OPT of that many options. */
static enum question_form
parse_options(uint16_t options)
{
	static uint8_t message[4096];
	struct wire_writer w = wire_writer_over(message, sizeof(message));

	wire_write_octets(&w, PLAIN("\1") "\0\0\x29\4\xd0\0\0\0\0", 41);
	wire_write_u16(&w, (uint16_t)(4 * options));
	for (; options > 0; options--)
		wire_write_octets(&w, "\0\14\0\0", 4);
	CHECK(!w.full);
	return parse((const char *)message, wire_written(&w));
}

/* What question.h promises, and what no question has use for. */
TEST(test_question_cost)
{
	CHECK(parse_records(20) == QUESTION_PLAIN);
	CHECK(parse_records(200) == QUESTION_MALFORMED);
	CHECK(parsed.readable);
	CHECK(parse_options(30) == QUESTION_PLAIN);
	CHECK(parsed.edns.present && parsed.edns.padding);
	CHECK(!parsed.edns.keepalive);
	/* The last of very many are not looked at. */
	CHECK(parse_options(1000) == QUESTION_PLAIN);
	CHECK(parsed.edns.present && parsed.edns.padding);
}

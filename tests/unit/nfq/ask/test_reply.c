/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a reply is worth. */
#include "nfq/ask/engine_state.h"

#include <stdlib.h>
#include <string.h>

#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"
#include "tests/check.h"

static struct forward_settings settings;
static uint8_t octets[256];
static struct message m;

/* A reply about a.test with at most one record in each section. */
struct reply {
	uint16_t flags;
	uint16_t code;			/* above 15: in an OPT, too */
	uint16_t answer, authority;	/* types; 0: none */
};

static void
write_record(struct wire_writer *w, uint16_t type)
{
	if (type == 0)
		return;
	wire_write_u16(w, 0xc00c);
	wire_write_u16(w, type);
	wire_write_u16(w, CLASS_IN);
	wire_write_u32(w, 60);
	wire_write_u16(w, 4);
	wire_write_u32(w, 0xc0000207);
}

static const struct message *
of(struct reply reply)
{
	struct wire_writer w = wire_writer_over(octets, sizeof(octets));

	wire_write_u16(&w, 1);
	wire_write_u16(&w, (uint16_t)(DNS_FLAG_QR | reply.flags |
	    (reply.code & DNS_RCODE_MASK)));
	wire_write_u16(&w, 1);
	wire_write_u16(&w, reply.answer != 0);
	wire_write_u16(&w, reply.authority != 0);
	wire_write_u16(&w, reply.code > DNS_RCODE_MASK);
	wire_write_octets(&w, (const uint8_t *)"\1a\4test\0\0\1\0\1", 12);
	write_record(&w, reply.answer);
	write_record(&w, reply.authority);
	if (reply.code > DNS_RCODE_MASK) {
		wire_write_u8(&w, 0);
		wire_write_u16(&w, TYPE_OPT);
		wire_write_u16(&w, 1232);
		wire_write_u32(&w, (uint32_t)reply.code >> 4 << 24);
		wire_write_u16(&w, 0);
	}
	if (!message_read(&m, octets, wire_written(&w)))
		abort();
	return &m;
}

static bool
is_failure(struct reply reply)
{
	return reply_is_failure(&settings.attempts, of(reply));
}

TEST(records_and_denials_are_answers)
{
	forward_settings_defaults(&settings);
	CHECK(!is_failure((struct reply){ .answer = TYPE_A }));
	CHECK(!is_failure((struct reply){ .authority = TYPE_SOA }));
	CHECK(!is_failure((struct reply){ .code = RCODE_NXDOMAIN }));
	CHECK(!is_failure((struct reply){ .code = RCODE_NXDOMAIN,
		.authority = TYPE_SOA, .flags = DNS_FLAG_AA }));
	CHECK(!is_failure((struct reply){ 0 }));
}

/* It is no failure: the same server is asked over TCP. */
TEST(a_cut_one_is_no_failure)
{
	CHECK(!is_failure((struct reply){ .flags = DNS_FLAG_TC }));
}

TEST(some_codes_are_failures)
{
	CHECK(is_failure((struct reply){ .code = RCODE_SERVFAIL }));
	CHECK(is_failure((struct reply){ .code = RCODE_REFUSED }));
	settings.attempts.failure_rcodes = 0;
	for (uint16_t code = 1; code <= DNS_RCODE_MASK; code++)
		CHECK(!is_failure((struct reply){ .code = code }));
	forward_settings_defaults(&settings);
}

/* 16 and 19 have the lower bits of NOERROR and NXDOMAIN. */
TEST(extended_codes_are_failures)
{
	settings.attempts.failure_rcodes = 0;
	for (uint16_t code = 16; code < 4096; code++)
		CHECK(is_failure((struct reply){ .code = code,
			.answer = TYPE_A }));
	forward_settings_defaults(&settings);
}

TEST(the_settings_say_which_codes_are_failures)
{
	settings.attempts.failure_rcodes = 1U << RCODE_NXDOMAIN;
	CHECK(is_failure((struct reply){ .code = RCODE_NXDOMAIN }));
	CHECK(!is_failure((struct reply){ .code = RCODE_SERVFAIL }));
	forward_settings_defaults(&settings);
}

TEST(a_referral_is_lame)
{
	CHECK(reply_is_lame(of((struct reply){ .authority = TYPE_NS })));
	CHECK(is_failure((struct reply){ .authority = TYPE_NS }));
	CHECK(!reply_is_lame(of((struct reply){ .authority = TYPE_SOA })));
	CHECK(!reply_is_lame(of((struct reply){ 0 })));
	CHECK(!reply_is_lame(of((struct reply){ .answer = TYPE_A,
		.authority = TYPE_NS })));
	CHECK(!reply_is_lame(of((struct reply){ .authority = TYPE_NS,
		.flags = DNS_FLAG_AA })));
	CHECK(!reply_is_lame(of((struct reply){ .authority = TYPE_NS,
		.flags = DNS_FLAG_RA })));
	CHECK(!reply_is_lame(of((struct reply){ .authority = TYPE_NS,
		.code = RCODE_NXDOMAIN })));
}

TEST(an_empty_answer_fails_if_the_settings_say_so)
{
	settings.attempts.failure_nodata = 1;
	CHECK(is_failure((struct reply){ 0 }));
	CHECK(is_failure((struct reply){ .authority = TYPE_SOA }));
	CHECK(!is_failure((struct reply){ .answer = TYPE_A }));
	CHECK(!is_failure((struct reply){ .code = RCODE_NXDOMAIN }));
	CHECK(!is_failure((struct reply){ .flags = DNS_FLAG_TC }));
	forward_settings_defaults(&settings);
}

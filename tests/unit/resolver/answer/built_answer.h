/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers from findings made by hand, read back with ldns.  How whole
 * questions are answered from a table stands in tests/scenarios.
 */
#ifndef NFDNS_TESTS_UNIT_RESOLVER_ANSWER_BUILT_ANSWER_H
#define NFDNS_TESTS_UNIT_RESOLVER_ANSWER_BUILT_ANSWER_H

#include <stdbool.h>	/* before ldns.h, which else makes a bool of its own */
#include <ldns/ldns.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/answer/answer.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"
#include "tests/check.h"
#include "tests/unit/resolver/answer/record_is.h"

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

static inline void
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
		.udp_size = 1232, .tcp = 1 };
	t.plan = (struct answer_plan){
	    .question = &t.question,
	    .lookup = &t.lookup,
	    .content = ANSWER_RECORDS,
	    .settings = &t.settings,
	};
}

static inline void
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
static inline void
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

static inline size_t
answers(void)
{
	CHECK(t.summary.answers == ldns_pkt_ancount(t.packet));
	CHECK(t.summary.truncated == ldns_pkt_tc(t.packet));
	return ldns_pkt_ancount(t.packet);
}

#define ANSWER_IS(n, text) record_is(ldns_pkt_answer(t.packet), n, text)
#define AUTHORITY_IS(text) record_is(ldns_pkt_authority(t.packet), 0, text)

static inline void
make_search(uint8_t target_length, enum entry_kind kind)
{
	t.lookup.entry.kind = kind;
	t.lookup.entry.target_length = target_length;
}

#endif

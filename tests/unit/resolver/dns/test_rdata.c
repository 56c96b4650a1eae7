/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/dns/rdata.h"

#include <stdlib.h>
#include <string.h>

#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "tests/check.h"

struct sample {
	uint16_t type;
	const char *octets;
	size_t length;
	const char *text;
};

#define OCTETS(literal)	literal, sizeof(literal) - 1

static const struct sample samples[] = {
	{ TYPE_A, OCTETS("\300\0\2\1"), "192.0.2.1" },
	{ TYPE_AAAA, OCTETS("\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"), "fd00::1" },
	{ TYPE_CNAME, OCTETS("\1a\4test\0"), "a.test." },
	{ TYPE_NS, OCTETS("\0"), "." },
	{ TYPE_PTR, OCTETS("\1A\0"), "A." },
	{ TYPE_MX, OCTETS("\1\2\1a\0"), "258 a." },
	{ TYPE_SRV, OCTETS("\0\1\0\2\0\3\1a\0"), "1 2 3 a." },
	{ TYPE_TXT, OCTETS("\2a\"\0\1\n"), "\"a\\\"\" \"\" \"\\010\"" },
	{ TYPE_SOA, OCTETS("\1a\0\1b\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4"
	    "\377\377\377\377"), "a. b. 1 2 3 4 4294967295" },
	{ 39, OCTETS("\1a\0"), "\\# 3 016100" },
	{ 65280, OCTETS(""), "\\# 0" },
};

/* Of known types, one octet less or more is none. */
TEST(text_is_of_whole_data_alone)
{
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const struct sample *s = &samples[i];
		bool any = !rdata_layout(s->type)->text;
		uint8_t octets[64] = { 0 };
		char *text;

		memcpy(octets, s->octets, s->length);
		text = rdata_to_text(s->type, octets, s->length);
		CHECK(text != NULL && strcmp(text, s->text) == 0);
		free(text);
		CHECK(rdata_valid(s->type, octets, s->length));
		if (s->length > 0)
			CHECK(any ==
			    rdata_valid(s->type, octets, s->length - 1));
		octets[s->length] = 63;
		CHECK(any == rdata_valid(s->type, octets, s->length + 1));
	}
}

/* A message: 12 octets of header, "a.test" at 12, then what is appended. */
static bool
read_at(const char *octets, size_t length, size_t offset, size_t end,
    struct dns_name *name, size_t *behind)
{
	uint8_t message[64] = "............\1A\4test";
	struct wire_reader r;
	bool fine;

	memcpy(message + 20, octets, length);
	r = wire_reader_over(message, 20 + length);
	r.pos += offset;
	fine = name_read_compressed(name, &r, message + end, NULL);
	CHECK(fine == !r.failed);
	*behind = wire_offset(&r);
	return fine;
}

TEST(compressed_names_lead_backwards)
{
	struct dns_name name;
	char text[NAME_TEXT_SIZE];
	size_t behind;

	CHECK(read_at("\1b\300\14", 4, 20, 24, &name, &behind));
	CHECK(strcmp(name_to_text(name.octets, text), "b.A.test.") == 0);
	CHECK(name.length == 10 && name.labels == 3 && behind == 24);
	CHECK(read_at("\300\14", 2, 20, 22, &name, &behind) && behind == 22);
	CHECK(read_at("\300\23\300\24", 4, 22, 24, &name, &behind));
	CHECK(name.length == 1 && name.labels == 0 && behind == 24);
	/* To itself, forward, into the header, and what ends too early. */
	CHECK(!read_at("\300\24", 2, 20, 22, &name, &behind));
	CHECK(!read_at("\1b\300\24", 4, 20, 24, &name, &behind));
	CHECK(!read_at("\300\26\0", 3, 20, 22, &name, &behind));
	CHECK(!read_at("\300\13", 2, 20, 22, &name, &behind));
	CHECK(!read_at("\1b\300\14", 4, 20, 23, &name, &behind));
	CHECK(!read_at("\1b\300", 3, 20, 23, &name, &behind));
	CHECK(!read_at("\2b", 2, 20, 22, &name, &behind));
	CHECK(!read_at("\100b\0", 3, 20, 23, &name, &behind));
	CHECK(!read_at("\200\14", 2, 20, 22, &name, &behind));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"

#include <errno.h>
#include <string.h>

#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"

static int
from_text(struct dns_name *name, const char *text)
{
	return name_from_text(name, text, strlen(text));
}

static struct dns_name
make(const char *text)
{
	struct dns_name name = { .length = 0 };

	CHECK(from_text(&name, text) == 0);
	return name;
}

static bool
wire_is(const struct dns_name *name, const char *wire, size_t length)
{
	return name->length == length &&
	    memcmp(name->octets, wire, length) == 0;
}

#define WIRE_IS(name, wire) wire_is(name, wire, sizeof(wire))

TEST(test_name_from_text)
{
	struct dns_name name;

	CHECK(from_text(&name, "Web.svc") == 0);
	CHECK(WIRE_IS(&name, "\3Web\3svc"));
	CHECK(name.labels == 2);
	CHECK(from_text(&name, "Web.svc.") == 0);
	CHECK(WIRE_IS(&name, "\3Web\3svc"));
	CHECK(from_text(&name, ".") == 0);
	CHECK(WIRE_IS(&name, "") && name.labels == 0);
	CHECK(from_text(&name, "") == 0);
	CHECK(WIRE_IS(&name, "") && name.labels == 0);
	CHECK(from_text(&name, "a\\.b.\\099\\000.\\\\") == 0);
	CHECK(WIRE_IS(&name, "\3a.b\2c\0\1\\"));
	CHECK(name.labels == 3);
	CHECK(from_text(&name, "a\\065") == 0 && WIRE_IS(&name, "\2aA"));
}

TEST(test_name_from_text_refuses)
{
	static const char *const wrong[] = { "..", "a..b", ".a", "a..", "\\",
		"a\\", "a\\25", "a\\256", "a\\1b2", "\\12.a" };
	struct dns_name name;
	char label[65];
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(from_text(&name, wrong[i]) == -EINVAL);
	memset(label, 'x', sizeof(label));
	CHECK(name_from_text(&name, label, 63) == 0 && name.length == 65);
	CHECK(name_from_text(&name, label, 64) == -ENAMETOOLONG);
}

/* Three labels of 63 and a last one make names of 254, 255 and 256 octets. */
TEST(test_name_octet_limit)
{
	struct dns_name name;
	char text[300];
	size_t last;

	memset(text, 'y', sizeof(text));
	text[63] = text[127] = text[191] = '.';
	for (last = 60; last <= 61; last++) {
		CHECK(name_from_text(&name, text, 192 + last) == 0);
		CHECK(name.length == 194 + last && name.labels == 4);
	}
	CHECK(name_from_text(&name, text, 192 + 62) == -ENAMETOOLONG);
	/* The final dot adds nothing. */
	text[192 + 61] = '.';
	CHECK(name_from_text(&name, text, 192 + 62) == 0);

	for (last = 0; last < 127; last++) {
		text[2 * last] = 'z';
		text[2 * last + 1] = '.';
	}
	CHECK(name_from_text(&name, text, 254) == 0);
	CHECK(name.length == 255 && name.labels == NAME_MAX_LABELS);
}

TEST(test_name_to_text)
{
	char text[NAME_TEXT_SIZE];
	struct dns_name name = make("A.b\\.c.\\001\\127\\200\\032~\\\\");

	CHECK(strcmp(name_to_text(name.octets, text),
	    "A.b\\.c.\\001\\127\\200\\032~\\\\.") == 0);
	CHECK(strcmp(name_to_text((const uint8_t *)"", text), ".") == 0);
}

/* Every octet comes back from text as it was, and the worst name fits. */
TEST(test_name_text_round_trip)
{
	char text[NAME_TEXT_SIZE];
	struct dns_name name, back;
	unsigned int first, i;

	for (first = 0; first < 256; first += 32) {
		name.length = 34;
		name.labels = 1;
		name.octets[0] = 32;
		for (i = 0; i < 32; i++)
			name.octets[1 + i] = (uint8_t)(first + i);
		name.octets[33] = 0;
		CHECK(from_text(&back, name_to_text(name.octets, text)) == 0);
		CHECK(name_equal(&name, &back));
	}
	memset(name.octets, 0xff, sizeof(name.octets));
	name.octets[0] = name.octets[64] = name.octets[128] = 63;
	name.octets[192] = 61;
	name.octets[254] = 0;
	CHECK(strlen(name_to_text(name.octets, text)) < NAME_TEXT_SIZE);
	CHECK(from_text(&back, text) == 0 && back.length == 255);
}

TEST(test_name_read_lower)
{
	static const uint8_t wire[] = "\5Ab@[`\13ABCDEFGHXYZ\2{z\0rest";
	struct dns_name name;
	size_t length = sizeof("\5Ab@[`\13ABCDEFGHXYZ\2{z");

	CHECK(name_read_lower(&name, wire, sizeof(wire)) == 0);
	CHECK(WIRE_IS(&name, "\5ab@[`\13abcdefghxyz\2{z"));
	CHECK(name.labels == 3);
	CHECK(name_read_lower(&name, wire, length) == 0);
	CHECK(name_read_lower(&name, wire, length - 1) == -EINVAL);
	CHECK(name_read_lower(&name, wire, 0) == -EINVAL);
	CHECK(name_read_lower(&name, (const uint8_t *)"\300\14", 2) == -ELOOP);
	CHECK(name_read_lower(&name, (const uint8_t *)"\100a", 66) == -EINVAL);
	CHECK(name_read_lower(&name, (const uint8_t *)"\200a", 2) == -EINVAL);
}

/* Only A to Z change (RFC 4343), at every place in a word of eight. */
TEST(test_name_lower_octets)
{
	struct dns_name name;
	unsigned int c, at;

	for (c = 0; c < 256; c++) {
		for (at = 0; at < 19; at++) {
			unsigned int lower = c >= 'A' && c <= 'Z' ? c + 32 : c;

			memset(name.octets, 0xc1, sizeof(name.octets));
			name.length = 21;
			name.labels = 1;
			name.octets[0] = 19;
			name.octets[1 + at] = (uint8_t)c;
			name.octets[20] = 0;
			name_lower(&name);
			CHECK(name.octets[1 + at] == lower);
			CHECK(name.octets[at == 0 ? 2 : at] == 0xc1);
		}
	}
}

TEST(test_name_read_lower_limits)
{
	struct dns_name name;
	uint8_t wire[300];
	size_t i;

	for (i = 0; i < sizeof(wire); i++)
		wire[i] = i % 2 == 0 ? 1 : 'Q';
	wire[254] = 0;
	CHECK(name_read_lower(&name, wire, sizeof(wire)) == 0);
	CHECK(name.length == 255 && name.labels == 127);
	wire[254] = 1;
	wire[256] = 0;
	CHECK(name_read_lower(&name, wire, sizeof(wire)) == -EINVAL);
}

TEST(test_name_is_within)
{
	struct dns_name root = make("."), zone = make("mesh.test");
	struct dns_name name = make("host.mesh.test");
	struct dns_name lookalike = make("host.nomesh.test");
	struct dns_name dotted = make("host\\.mesh.test");

	CHECK(name_is_within(&name, &zone));
	CHECK(name_is_within(&zone, &zone));
	CHECK(name_is_within(&name, &root) && name_is_within(&root, &root));
	CHECK(!name_is_within(&zone, &name));
	CHECK(!name_is_within(&root, &zone));
	CHECK(!name_is_within(&lookalike, &zone));
	CHECK(!name_is_within(&dotted, &zone));
}

TEST(test_name_suffix_offset)
{
	struct dns_name name = make("host.mesh.test");

	CHECK(name_suffix_offset(&name, 0) == 15);
	CHECK(name_suffix_offset(&name, 1) == 10);
	CHECK(name_suffix_offset(&name, 2) == 5);
	CHECK(name_suffix_offset(&name, 3) == 0);
}

TEST(test_name_join)
{
	struct dns_name a = make("web"), b = make("svc.x"), root = make(".");
	struct dns_name joined, most;
	char text[253];

	CHECK(name_join(&joined, &a, &b) == 0);
	CHECK(WIRE_IS(&joined, "\3web\3svc\1x") && joined.labels == 3);
	CHECK(name_join(&joined, &a, &root) == 0 && name_equal(&joined, &a));
	CHECK(name_join(&joined, &root, &a) == 0 && name_equal(&joined, &a));
	CHECK(name_join(&a, &a, &a) == 0);
	CHECK(WIRE_IS(&a, "\3web\3web"));
	memset(text, 'y', sizeof(text));
	text[63] = text[127] = text[191] = '.';
	CHECK(name_from_text(&most, text, sizeof(text)) == 0);
	CHECK(name_join(&joined, &most, &root) == 0 && joined.length == 255);
	CHECK(name_join(&joined, &a, &most) == -ENAMETOOLONG);
}

TEST(test_rr_texts)
{
	char buf[RR_TEXT_SIZE];
	uint16_t type, back;
	unsigned int n;

	CHECK(strcmp(rr_type_text(TYPE_AAAA, buf), "AAAA") == 0);
	CHECK(strcmp(rr_type_text(65280, buf), "TYPE65280") == 0);
	CHECK(strcmp(rcode_text(RCODE_BADVERS, buf), "BADVERS") == 0);
	CHECK(strcmp(rcode_text(3841, buf), "RCODE3841") == 0);
	for (n = 0; n <= 65535; n++) {
		type = (uint16_t)n;
		CHECK(rr_type_from_text(&back, rr_type_text(type, buf)) == 0 &&
		    back == type);
	}
	CHECK(rr_type_from_text(&type, "https") == 0 && type == TYPE_HTTPS);
	CHECK(rr_type_from_text(&type, "type1") == 0 && type == TYPE_A);
	CHECK(rr_type_from_text(&type, "TYPE65536") == -EINVAL);
	CHECK(rr_type_from_text(&type, "TYPE") == -EINVAL);
	CHECK(rr_type_from_text(&type, "TYPE1x") == -EINVAL);
	CHECK(rr_type_from_text(&type, "TYPE-1") == -EINVAL);
	CHECK(rr_type_from_text(&type, "NONSENSE") == -EINVAL);
	CHECK(rr_type_from_text(&type, "") == -EINVAL);
}

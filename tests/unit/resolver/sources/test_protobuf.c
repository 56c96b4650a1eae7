/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "resolver/sources/protobuf.h"
#include "tests/check.h"

/* A message in memory of exactly its size, so that sanitizers see overruns. */
struct message {
	uint8_t *octets;
	struct protobuf cursor;
};

static struct message
message_of(const char *octets, size_t length)
{
	struct message m = { .octets = malloc(length + (length == 0)) };

	memcpy(m.octets, octets, length);
	m.cursor = protobuf_over(m.octets, length);
	return m;
}

#define MESSAGE(literal) message_of(literal, sizeof(literal) - 1)

TEST(fields_of_each_type)
{
	struct message m = MESSAGE("\x08\x96\x01" "\x11\1\2\3\4\5\6\7\x88"
	    "\x1a\3abc" "\x25\1\2\3\x84" "\x2a\0");
	struct protobuf_field f;

	CHECK(protobuf_next(&m.cursor, &f) && f.number == 1 &&
	    f.type == PROTOBUF_VARINT && f.value == 150);
	CHECK(protobuf_next(&m.cursor, &f) && f.number == 2 &&
	    f.type == PROTOBUF_FIXED64 &&
	    f.value == UINT64_C(0x8807060504030201));
	CHECK(protobuf_next(&m.cursor, &f) && f.number == 3 &&
	    f.type == PROTOBUF_OCTETS &&
	    span_equal(f.octets, span_of("abc")));
	CHECK(protobuf_next(&m.cursor, &f) && f.number == 4 &&
	    f.type == PROTOBUF_FIXED32 && f.value == 0x84030201);
	CHECK(protobuf_next(&m.cursor, &f) && f.number == 5 &&
	    f.octets.length == 0 && f.octets.text != NULL);
	CHECK(!protobuf_next(&m.cursor, &f) && !m.cursor.failed);
	free(m.octets);
}

TEST(limits_of_varints)
{
	struct message m = MESSAGE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"
	    "\xf8\xff\xff\xff\x0f\0" "\x88\x80\0\1");
	struct protobuf_field f;

	CHECK(protobuf_next(&m.cursor, &f) && f.value == UINT64_MAX);
	CHECK(protobuf_next(&m.cursor, &f) && f.number == (1u << 29) - 1);
	/* Longer than need be is allowed. */
	CHECK(protobuf_next(&m.cursor, &f) && f.number == 1 && f.value == 1);
	CHECK(!protobuf_next(&m.cursor, &f) && !m.cursor.failed);
	free(m.octets);
}

/* Groups are stepped over whole, also in each other. */
TEST(groups)
{
	struct message m = MESSAGE("\x0b" "\x10\1" "\x1b\x1c" "\x22\1x" "\x0c"
	    "\x08\7");
	struct protobuf_field f;

	CHECK(protobuf_next(&m.cursor, &f) && f.number == 1 &&
	    f.type == PROTOBUF_GROUP);
	CHECK(protobuf_next(&m.cursor, &f) && f.type == PROTOBUF_VARINT &&
	    f.value == 7);
	CHECK(!protobuf_next(&m.cursor, &f) && !m.cursor.failed);
	free(m.octets);
}

static void
groups_of_some_depth(size_t depth, bool good)
{
	char octets[2 * (PROTOBUF_MAX_GROUPS + 1)];
	struct protobuf_field f;
	struct message m;

	memset(octets, 0x0b, depth);
	memset(octets + depth, 0x0c, depth);
	m = message_of(octets, 2 * depth);
	CHECK(protobuf_next(&m.cursor, &f) == good);
	CHECK(m.cursor.failed == !good);
	free(m.octets);
}

TEST(depth_of_groups_is_bounded)
{
	groups_of_some_depth(PROTOBUF_MAX_GROUPS, true);
	groups_of_some_depth(PROTOBUF_MAX_GROUPS + 1, false);
}

/* Whether the message is refused, and stays refused. */
static bool
refused(const char *octets, size_t length)
{
	struct message m = message_of(octets, length);
	struct protobuf_field f;
	bool failed;

	while (protobuf_next(&m.cursor, &f))
		continue;
	failed = m.cursor.failed && !protobuf_next(&m.cursor, &f);
	free(m.octets);
	return failed;
}

#define REFUSED(literal) refused(literal, sizeof(literal) - 1)

TEST(what_is_refused)
{
	CHECK(REFUSED("\x08"));			/* cut off */
	CHECK(REFUSED("\x08\x80"));
	CHECK(REFUSED("\x80"));
	CHECK(REFUSED("\x09\1\2\3\4\5\6\7"));
	CHECK(REFUSED("\x0d\1\2\3"));
	CHECK(REFUSED("\x0a\2x"));
	CHECK(REFUSED("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"));
	CHECK(REFUSED("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\1"));
	CHECK(REFUSED("\0\0"));			/* field 0 */
	CHECK(REFUSED("\x82\x80\x80\x80\x10\0"));	/* field 2^29: 0, too */
	CHECK(REFUSED("\x88\x80\x80\x80\x80\0\0"));	/* a tag of six octets */
	CHECK(REFUSED("\x0e"));			/* types that are none */
	CHECK(REFUSED("\x0f"));
	CHECK(REFUSED("\x0c"));			/* end of no group */
	CHECK(REFUSED("\x0b"));
	CHECK(REFUSED("\x0b\x14"));		/* of another group */
	CHECK(REFUSED("\x0b\x12\2x"));
	CHECK(!REFUSED(""));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is written, octet for octet (protobuf.dev's own examples among it). */
#include "resolver/feed/protobuf_writer.h"

#include <string.h>

#include "tests/check.h"

static bool
wrote(const struct protobuf_writer *w, const char *octets, size_t length)
{
	return !w->failed && w->length == length &&
	    memcmp(w->octets, octets, length) == 0;
}

TEST(scalars)
{
	struct protobuf_writer w = { 0 };

	protobuf_write_varint(&w, 1, 150);
	protobuf_write_string(&w, 2, "testing");
	protobuf_write_string(&w, 3, "");
	protobuf_write_string(&w, 3, NULL);
	protobuf_write_octets(&w, 20, "", 0);
	CHECK(wrote(&w, "\x08\x96\x01\x12\x07testing\xa2\x01\x00", 15));
	protobuf_writer_free(&w);
	protobuf_write_varint(&w, 1, UINT64_MAX);
	CHECK(wrote(&w, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11));
	protobuf_writer_free(&w);
}

TEST(messages_in_messages)
{
	struct protobuf_writer w = { 0 };
	size_t outer, inner;

	outer = protobuf_begin(&w);
	inner = protobuf_begin(&w);
	protobuf_write_varint(&w, 1, 150);
	protobuf_end(&w, 3, inner);
	inner = protobuf_begin(&w);
	protobuf_end(&w, 4, inner);
	protobuf_end(&w, 1, outer);
	CHECK(wrote(&w, "\x0a\x07\x1a\x03\x08\x96\x01\x22\x00", 9));
	protobuf_writer_free(&w);
}

TEST(grows)
{
	struct protobuf_writer w = { 0 };
	static char text[5000];
	size_t begin = protobuf_begin(&w);

	memset(text, 'x', sizeof(text));
	for (int i = 0; i < 100; i++)
		protobuf_write_octets(&w, 1, text, sizeof(text));
	protobuf_end(&w, 1, begin);
	CHECK(!w.failed && w.length == 100 * (sizeof(text) + 3) + 4);
	CHECK(w.octets[0] == 0x0a && w.octets[4] == 0x0a);
	protobuf_writer_free(&w);
}

TEST(failure_is_sticky)
{
	struct protobuf_writer w = { 0 };

	protobuf_write_octets(&w, 1, "", (size_t)1 << 30);
	CHECK(w.failed);
	protobuf_write_varint(&w, 1, 1);
	CHECK(w.failed);
	protobuf_writer_free(&w);
	CHECK(!w.failed && w.octets == NULL);
}

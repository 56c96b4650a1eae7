/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gRPC's framing, cut anywhere, and how the end of a call is read. */
#include "resolver/feed/http2.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

#define LIMIT	100000

/* Puts all octets in pieces; returns the last outcome, counts the messages. */
static enum grpc_read
put(struct grpc_reader *r, const uint8_t *octets, size_t length, size_t piece,
    size_t *messages)
{
	enum grpc_read read = GRPC_MORE;
	size_t size;

	while (length > 0) {
		size_t n = piece < length ? piece : length;
		const uint8_t *p = octets;

		octets += n;
		length -= n;
		while ((read = grpc_reader_put(r, &p, &n)) == GRPC_MESSAGE) {
			free(grpc_reader_take(r, &size));
			++*messages;
			if (n == 0)
				break;
		}
		if (read != GRPC_MORE && read != GRPC_MESSAGE)
			return read;
	}
	return read;
}

TEST(cut_anywhere)
{
	uint8_t octets[3 * (GRPC_PREFIX + 1000)];

	for (size_t i = 0; i < 3; i++) {
		uint8_t *p = octets + i * (GRPC_PREFIX + 1000);

		grpc_prefix_write(p, 1000);
		memset(p + GRPC_PREFIX, 'a' + (int)i, 1000);
	}
	for (size_t piece = 1; piece <= sizeof(octets); piece++) {
		struct grpc_reader r = { .limit = LIMIT };
		size_t messages = 0;

		(void)put(&r, octets, sizeof(octets), piece, &messages);
		CHECK(messages == 3 && !grpc_reader_is_inside(&r));
		grpc_reader_free(&r);
	}
}

TEST(content_is_kept)
{
	struct grpc_reader r = { .limit = LIMIT };
	uint8_t octets[GRPC_PREFIX + 50000], *message;
	const uint8_t *p = octets;
	size_t length = sizeof(octets);

	grpc_prefix_write(octets, 50000);
	for (size_t i = 0; i < 50000; i++)
		octets[GRPC_PREFIX + i] = (uint8_t)(i * 7);
	CHECK(grpc_reader_put(&r, &p, &length) == GRPC_MESSAGE && length == 0);
	message = grpc_reader_take(&r, &length);
	CHECK(length == 50000 && memcmp(message, octets + GRPC_PREFIX, 50000) == 0);
	free(message);
}

TEST(empty_messages)
{
	static const uint8_t octets[2 * GRPC_PREFIX] = { 0 };
	struct grpc_reader r = { .limit = LIMIT };
	size_t messages = 0;

	(void)put(&r, octets, sizeof(octets), sizeof(octets), &messages);
	CHECK(messages == 2);
	grpc_reader_free(&r);
}

TEST(memory_follows_what_came)
{
	struct grpc_reader r = { .limit = (uint64_t)1 << 32 };
	uint8_t octets[GRPC_PREFIX + 1];
	size_t messages = 0;

	grpc_prefix_write(octets, 0xffffffff);
	octets[GRPC_PREFIX] = 1;
	CHECK(put(&r, octets, sizeof(octets), 1, &messages) == GRPC_MORE);
	CHECK(r.size <= 65536 && grpc_reader_is_inside(&r));
	grpc_reader_free(&r);
}

TEST(limit_and_flag)
{
	struct grpc_reader r = { .limit = LIMIT };
	uint8_t octets[GRPC_PREFIX];
	size_t messages = 0;

	grpc_prefix_write(octets, LIMIT + 1);
	CHECK(put(&r, octets, sizeof(octets), 5, &messages) == GRPC_TOO_LONG);
	CHECK(r.octets == NULL);
	grpc_reader_free(&r);
	r.limit = LIMIT;
	grpc_prefix_write(octets, 10);
	octets[0] = 1;
	CHECK(put(&r, octets, sizeof(octets), 5, &messages) == GRPC_COMPRESSED);
	grpc_reader_free(&r);
}

struct header {
	const char *name, *value;
};

static unsigned int
status_of(const struct header *headers, char why[FEED_TEXT])
{
	struct grpc_reply reply = { 0 };

	for (; headers->name != NULL; headers++)
		grpc_reply_header(&reply, headers->name, strlen(headers->name),
		    headers->value, strlen(headers->value));
	return grpc_reply_status(&reply, why);
}

#define STATUS(...) status_of((const struct header[]) { __VA_ARGS__, \
	{ NULL, NULL } }, why)
#define GRPC_TYPE { "content-type", "application/grpc" }

/* FEED G1: what is not gRPC is judged by its HTTP status. */
TEST(http_status_of_what_is_not_grpc)
{
	static const struct {
		const char *http;
		unsigned int status;
	} rows[] = { { "400", 13 }, { "401", 16 }, { "403", 7 }, { "404", 12 },
		{ "429", 14 }, { "502", 14 }, { "503", 14 }, { "504", 14 },
		{ "500", 2 }, { "302", 2 }, { "200", 2 } };
	char why[FEED_TEXT];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		CHECK(STATUS({ ":status", rows[i].http },
		    { "content-type", "text/html" }, { "grpc-status", "1" }) ==
		    rows[i].status);
	CHECK(STATUS({ ":status", "503" }) == 14);
	CHECK(strcmp(why, "Unavailable (14): the answer is HTTP 503 and not "
	    "gRPC") == 0);
	CHECK(STATUS({ ":status", "200" },
	    { "content-type", "application/grpcx" }, { "grpc-status", "0" }) == 2);
}

/* FEED G4, G5 and a status that is not there. */
TEST(grpc_status_wins)
{
	char why[FEED_TEXT];

	CHECK(STATUS({ ":status", "502" }, GRPC_TYPE,
	    { "grpc-status", "abc" }) == 2);
	CHECK(STATUS({ ":status", "502" }, GRPC_TYPE,
	    { "grpc-status", "3" }) == 3);
	CHECK(STATUS({ ":status", "200" }, { "content-type",
	    "application/grpc+proto;x=y" }, { "grpc-status", "0" }) == 0);
	CHECK(STATUS({ ":status", "200" }, GRPC_TYPE) == 2);
	CHECK(STATUS({ ":status", "503" }, GRPC_TYPE) == 14);
	CHECK(STATUS({ ":status", "200" }, GRPC_TYPE,
	    { "grpc-status", "99999999999999999999" }) == 2);
	CHECK(STATUS({ ":status", "200" }, GRPC_TYPE,
	    { "grpc-status", "-1" }) == 2);
	CHECK(STATUS({ ":status", "200" }, GRPC_TYPE, { "grpc-status", "" }) == 2);
}

/* FEED G12 */
TEST(messages_are_decoded)
{
	static const struct {
		const char *raw, *text;
	} rows[] = {
		{ "H%61o", "Internal (13): Hao" },
		{ "H%6", "Internal (13): H%6" },
		{ "%G0", "Internal (13): %G0" },
		{ "%", "Internal (13): %" },
		{ "%E7%B3%BB%E7%BB%9F",
		    "Internal (13): \xe7\xb3\xbb\xe7\xbb\x9f" },
		{ "a%0ab%1b%ff", "Internal (13): a\\x0ab\\x1b\\xff" },
		{ "", "Internal (13)" },
	};
	char why[FEED_TEXT];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		CHECK(STATUS({ ":status", "200" }, GRPC_TYPE, { "grpc-status",
		    "13" }, { "grpc-message", rows[i].raw }) == 13);
		CHECK(strcmp(why, rows[i].text) == 0);
	}
}

TEST(long_messages_are_cut)
{
	char value[4096], why[FEED_TEXT];

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	CHECK(STATUS({ ":status", "200" }, GRPC_TYPE, { "grpc-status", "4000" },
	    { "grpc-message", value }) == 4000);
	CHECK(strlen(why) < FEED_TEXT && strstr(why, "4000") != NULL);
}

/* FEED G24 */
TEST(reset_codes)
{
	static const unsigned int status[] = { 13, 13, 13, 13, 13, 2, 13, 14,
		1, 13, 13, 8, 7, 2 };

	for (uint32_t code = 0; code < sizeof(status) / sizeof(*status); code++)
		CHECK(grpc_status_of_reset(code) == status[code]);
}

TEST(body_of_a_web_server)
{
	struct grpc_reply reply = { .http_status = 502 };
	char why[FEED_TEXT];

	for (int i = 0; i < 100; i++)
		grpc_reply_body(&reply, "<h1>\n", 5);
	CHECK(reply.body_length == GRPC_BODY_KEPT);
	CHECK(grpc_reply_status(&reply, why) == 14);
	CHECK(strstr(why, "HTTP 502") != NULL && strstr(why, "<h1>\\x0a") != NULL);
}

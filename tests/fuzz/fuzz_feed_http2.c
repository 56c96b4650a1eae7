/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as what a server sends on one connection, cut into pieces: every
 * message is within the limit, the session always says why it ended, and the
 * answers that it makes stay bounded.  The first two octets say how the input
 * is cut, and whether the client answers each message, as the feed does, or GETs
 * one thing after the other.
 */
#include <string.h>

#include "resolver/feed/http2.h"
#include "tests/fuzz/fuzz.h"

#define LIMIT		(1 << 20)
#define OUTPUT_MOST	(64 << 20)

static void
take_head(void *arg, unsigned int status, unsigned int retry_after)
{
	(void)arg;
	check(status < 1000000 && retry_after < 1000000);
}

static bool
take_body(void *arg, const uint8_t *octets, size_t length)
{
	size_t *taken = arg;

	check(length > 0 && octets[0] + octets[length - 1] >= 0);
	*taken += length;
	return *taken < LIMIT;
}

static void
get(struct http2 *h, size_t *taken)
{
	const struct http2_reader reader = { .arg = taken, .head = take_head,
		.body = take_body };
	const struct http2_request request = { .scheme = "https",
		.authority = "api:6443", .path = "/a/b?c" };

	check(http2_get(h, &request, &reader) == 0 ||
	    http2_state(h)->going);
}

static void
call(struct http2 *h)
{
	static const struct http2_header header = { "clusterid", "Kubernetes" };
	const struct http2_request request = { .scheme = "https",
		.authority = "istiod:15012", .path = "/a/b",
		.headers = &header, .header_count = 1 };

	check(http2_call(h, &request) == 0);
	check(http2_send(h, "question", 8) == 0);
}

static void
drain(struct http2 *h, size_t *written)
{
	const uint8_t *octets;
	size_t length;

	while (http2_output(h, &octets, &length)) {
		*written += length;
		http2_written(h, length);
	}
	check(*written <= OUTPUT_MOST);
}

static void
take_messages(struct http2 *h, bool answers)
{
	uint8_t *octets;
	size_t length;

	while ((octets = http2_message(h, &length)) != NULL) {
		check(length <= LIMIT);
		free(octets);
		if (answers && http2_send(h, "answer", 6) != 0)
			http2_cancel(h);
	}
	check(http2_inside(h) <= LIMIT + 5);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct http2_state *state;
	size_t piece = 16384, written = 0, taken = 0;
	struct http2 *h = http2_new(LIMIT);
	bool answers = false, gets = false;

	check(h != NULL);
	state = http2_state(h);
	if (size >= 2) {
		piece = data[0] == 0 ? piece : data[0];
		answers = (data[1] & 1) != 0;
		gets = (data[1] & 2) != 0;
		data += 2;
		size -= 2;
	}
	if (gets)
		get(h, &taken);
	else
		call(h);
	drain(h, &written);
	while (size > 0) {
		size_t n = size < piece ? size : piece;

		http2_receive(h, data, n);
		take_messages(h, answers);
		if (gets && state->whole && !state->ended && !state->going)
			get(h, &taken);
		drain(h, &written);
		data += n;
		size -= n;
	}
	check(!state->ended || *state->why != '\0');
	check(state->cause < FEED_CAUSES);
	check(memchr(state->why, '\n', sizeof(state->why)) == NULL);
	http2_free(h);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/upstream/frames.h"

#include <errno.h>
#include <string.h>

#include "tests/check.h"

static const uint8_t two[] = { 0, 12, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h',
	'i', 'j', 'k', 'l', 0, 13, 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I',
	'J', 'K', 'L', 'M' };

/* Feeds octets, at most "step" at a time; how many messages came. */
static unsigned int
feed(struct frames_in *in, size_t step)
{
	const uint8_t *message;
	unsigned int count = 0;
	ssize_t length;
	size_t at = 0;

	while (at < sizeof(two)) {
		size_t room, take = sizeof(two) - at;
		uint8_t *to = frames_in_room(in, &room);

		CHECK(to != NULL && room > 0);
		take = take < room ? take : room;
		take = take < step ? take : step;
		memcpy(to, two + at, take);
		at += take;
		length = frames_in_took(in, take, &message);
		CHECK(length >= 0);
		if (length == 0)
			continue;
		CHECK(length == 12 + (ssize_t)count);
		CHECK(memcmp(message, two + (count == 0 ? 2 : 16),
		    (size_t)length) == 0);
		count++;
	}
	return count;
}

TEST(messages_come_out_whatever_the_pieces)
{
	for (size_t step = 1; step <= sizeof(two); step++) {
		struct frames_in in = { .octets = NULL };

		CHECK(feed(&in, step) == 2);
		frames_in_free(&in);
	}
}

TEST(what_is_too_short_for_dns_is_refused)
{
	for (uint8_t length = 0; length < 12; length++) {
		struct frames_in in = { .octets = NULL };
		const uint8_t *message;
		size_t room;
		uint8_t *to = frames_in_room(&in, &room);

		CHECK(to != NULL && room == 2);
		to[0] = 0;
		to[1] = length;
		CHECK(frames_in_took(&in, 2, &message) == -EPROTO);
		frames_in_free(&in);
	}
}

TEST(the_longest_message_fits)
{
	struct frames_in in = { .octets = NULL };
	const uint8_t *message;
	size_t room;
	uint8_t *to = frames_in_room(&in, &room);

	memset(to, 0xff, 2);
	CHECK(frames_in_took(&in, 2, &message) == 0);
	to = frames_in_room(&in, &room);
	CHECK(room == 65535);
	memset(to, 1, room);
	CHECK(frames_in_took(&in, room, &message) == 65535);
	CHECK(message[65534] == 1);
	frames_in_free(&in);
}

TEST(what_goes_out_keeps_its_order_and_is_bounded)
{
	struct frames_out out = { .octets = NULL };
	uint8_t octets[500] = { 0 };
	const uint8_t *found;
	size_t length, waits = 0;
	int error = 0;

	for (uint8_t i = 0; i < 20; i++) {
		octets[0] = i;
		CHECK(frames_out_put(&out, octets, 12 + i) == 0);
	}
	for (uint8_t i = 0; i < 20; i++) {
		found = frames_out_octets(&out, &length);
		CHECK(length >= 14U + i && found[1] == 12 + i && found[2] == i);
		frames_out_sent(&out, 14U + i);
		/* What is sent makes room. */
		CHECK(frames_out_put(&out, octets, sizeof(octets)) == 0);
	}
	(void)frames_out_octets(&out, &waits);
	CHECK(waits == 20 * 502);
	while (error == 0)
		error = frames_out_put(&out, octets, sizeof(octets));
	CHECK(error == -ENOBUFS);
	(void)frames_out_octets(&out, &waits);
	CHECK(waits <= FRAMES_OUT_MAX && waits + 502 > FRAMES_OUT_MAX);
	frames_out_free(&out);
}

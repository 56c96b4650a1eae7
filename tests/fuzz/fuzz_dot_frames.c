/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as what an upstream sends over TCP or TLS, in pieces: the first octet says
 * how long these are.  The same messages come out as when all is there at once; and
 * going out again, they are the same octets.
 */
#include <string.h>

#include "nfq/upstream/tcp_state.h"
#include "tests/fuzz/fuzz.h"

/* The message at *at, if it is whole; false: not, or it is too short for DNS. */
static bool
next(const uint8_t *data, size_t size, size_t at, size_t *length)
{
	if (size - at < FRAMES_LENGTH)
		return false;
	*length = (size_t)data[at] << 8 | data[at + 1];
	return *length >= FRAMES_LEAST && size - at - FRAMES_LENGTH >= *length;
}

/* It goes out as it came in. */
static void
send_again(const uint8_t *frame, size_t length)
{
	struct frames_out out = { .octets = NULL };
	const uint8_t *octets;
	size_t waits;

	check(frames_out_put(&out, frame + FRAMES_LENGTH, length) == 0);
	octets = frames_out_octets(&out, &waits);
	check(waits == FRAMES_LENGTH + length);
	check(memcmp(octets, frame, waits) == 0);
	frames_out_sent(&out, waits);
	(void)frames_out_octets(&out, &waits);
	check(waits == 0);
	frames_out_free(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t step = size > 0 ? (size_t)data[0] + 1 : 1;
	struct frames_in in = { .octets = NULL };
	size_t at = size > 0, begin = at, length;
	ssize_t result = 0;

	while (at < size && result >= 0) {
		const uint8_t *message;
		size_t room = 0, take = size - at < step ? size - at : step;
		uint8_t *to = frames_in_room(&in, &room);

		check(to != NULL && room > 0);
		take = take < room ? take : room;
		memcpy(to, data + at, take);
		at += take;
		result = frames_in_took(&in, take, &message);
		if (result <= 0)
			continue;
		check(next(data, size, begin, &length));
		check((size_t)result == length);
		check(memcmp(message, data + begin + FRAMES_LENGTH,
		    length) == 0);
		send_again(data + begin, length);
		begin += FRAMES_LENGTH + length;
		check(begin == at);	/* nothing of the next one was taken */
	}
	check(result < 0 || !next(data, size, begin, &length));
	frames_in_free(&in);
	return 0;
}

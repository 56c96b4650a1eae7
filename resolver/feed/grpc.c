/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages of a call; grpc_reply.c has its end. */
#include <stdlib.h>
#include <string.h>

#include "resolver/feed/http2.h"
#include "resolver/dns/wire.h"

void
keepalive_start(struct keepalive *keepalive, int64_t interval_ms,
    monotime_t now)
{
	*keepalive = (struct keepalive){ .interval_ms = interval_ms,
		.heard = now, .sent = MONOTIME_NEVER, .waits = false };
}

void
keepalive_heard(struct keepalive *keepalive, monotime_t now)
{
	keepalive->heard = now;
	keepalive->waits = false;
}

void
keepalive_sent(struct keepalive *keepalive, monotime_t now)
{
	keepalive->sent = now;
	keepalive->waits = true;
}

monotime_t
keepalive_deadline(const struct keepalive *keepalive)
{
	monotime_t due, allowed;

	if (keepalive->waits)
		return monotime_add_ms(keepalive->sent, KEEPALIVE_TIMEOUT_MS);
	due = monotime_add_ms(keepalive->heard, keepalive->interval_ms);
	if (!monotime_is_set(keepalive->sent))
		return due;
	allowed = monotime_add_ms(keepalive->sent, KEEPALIVE_APART_MS);
	return monotime_is_past(due, allowed) ? due : allowed;
}

enum keepalive_step
keepalive_step(const struct keepalive *keepalive, monotime_t now)
{
	if (!monotime_is_past(now, keepalive_deadline(keepalive)))
		return KEEPALIVE_WAIT;
	return keepalive->waits ? KEEPALIVE_DEAD : KEEPALIVE_PING;
}

int64_t
keepalive_slower(int64_t interval_ms)
{
	return interval_ms >= KEEPALIVE_INTERVAL_MOST_MS / 2 ?
	    KEEPALIVE_INTERVAL_MOST_MS : interval_ms * 2;
}

#define FIRST_SIZE	((size_t)16 << 10)

void
grpc_prefix_write(uint8_t out[static GRPC_PREFIX], uint32_t length)
{
	out[0] = 0;
	wire_store_u32(out + 1, length);
}

/* Moves at most n octets to out; returns how many. */
static size_t
move(uint8_t *out, size_t n, const uint8_t **octets, size_t *length)
{
	if (n > *length)
		n = *length;
	if (n == 0)
		return 0;
	memcpy(out, *octets, n);
	*octets += n;
	*length -= n;
	return n;
}

/* The five octets are there: what do they announce? */
static enum grpc_read
read_prefix(struct grpc_reader *r)
{
	struct wire_reader wire = wire_reader_over(r->prefix, GRPC_PREFIX);
	uint8_t flag = wire_read_u8(&wire);
	uint32_t length = wire_read_u32(&wire);

	if (flag != 0)
		return GRPC_COMPRESSED;
	if (length > r->limit)
		return GRPC_TOO_LONG;
	r->announced = length;
	return GRPC_MORE;
}

/* Room for what comes: at most twice of what is there. */
static bool
grow(struct grpc_reader *r)
{
	size_t size = r->size != 0 ? r->size * 2 : FIRST_SIZE;
	uint8_t *octets;

	if (r->length < r->size)
		return true;
	if (size > r->announced)
		size = r->announced;
	octets = realloc(r->octets, size);
	if (octets == NULL)
		return false;
	r->octets = octets;
	r->size = size;
	return true;
}

enum grpc_read
grpc_reader_put(struct grpc_reader *r, const uint8_t **octets, size_t *length)
{
	if (r->prefix_length < GRPC_PREFIX) {
		enum grpc_read read;

		r->prefix_length += move(r->prefix + r->prefix_length,
		    GRPC_PREFIX - r->prefix_length, octets, length);
		if (r->prefix_length < GRPC_PREFIX)
			return GRPC_MORE;
		read = read_prefix(r);
		if (read != GRPC_MORE)
			return read;
	}
	if (grpc_reader_waits(r))
		return GRPC_WAIT;
	while (r->length < r->announced && *length > 0) {
		size_t room;

		if (!grow(r))
			return GRPC_NO_MEMORY;
		room = r->size - r->length;
		r->length += move(r->octets + r->length, room, octets, length);
	}
	return r->length < r->announced ? GRPC_MORE : GRPC_MESSAGE;
}

uint8_t *
grpc_reader_take(struct grpc_reader *reader, size_t *length)
{
	uint8_t *octets = reader->octets;

	*length = reader->length;
	if (octets == NULL)
		octets = malloc(1);		/* an empty message */
	reader->octets = NULL;
	reader->length = reader->size = reader->announced = 0;
	reader->prefix_length = 0;
	return octets;
}

bool
grpc_reader_is_inside(const struct grpc_reader *reader)
{
	return reader->prefix_length > 0;
}

bool
grpc_reader_waits(const struct grpc_reader *reader)
{
	return reader->prefix_length == GRPC_PREFIX && reader->length == 0 &&
	    reader->held > 0 && reader->announced + reader->held >
	    reader->limit + reader->limit / 8;
}

void
grpc_reader_free(struct grpc_reader *reader)
{
	free(reader->octets);
	memset(reader, 0, sizeof(*reader));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What fuzz targets share whose input is a question's packet and, behind it, the
 * upstream's reply: where the one ends, and what of the engine's host and settings
 * does not depend on the input.
 */
#ifndef NFDNS_TESTS_FUZZ_PACKET_AND_REPLY_H
#define NFDNS_TESTS_FUZZ_PACKET_AND_REPLY_H

#include <string.h>
#include <sys/socket.h>

#include "nfq/ask/engine.h"
#include "resolver/dns/wire.h"
#include "tests/fuzz/fuzz.h"

/* Where the packet ends by its own length. */
static inline size_t
packet_end(const uint8_t *data, size_t size)
{
	size_t end = size;

	if (size >= 20 && data[0] >> 4 == 4)
		end = wire_load_u16(data + 2);
	else if (size >= 40 && data[0] >> 4 == 6)
		end = 40U + wire_load_u16(data + 4);
	return end < size ? end : size;
}

/* One upstream over UDP, for all names; no probes. */
static inline void
one_upstream(struct forward_settings *s)
{
	forward_settings_defaults(s);
	s->upstreams = 1;
	s->upstream[0] = (struct forward_upstream){ .family = AF_INET,
		.port = 53, .transport = FORWARD_UDP };
	s->domains = 1;
	s->domain[0] = (struct forward_domain){ .upstreams = 1 };
	s->health.loops = 0;
}

/* A reply in memory of exactly its size, with that id; the caller frees it. */
static inline uint8_t *
reply_with_id(const uint8_t *octets, size_t length, uint16_t id)
{
	uint8_t *copy = malloc(length > 0 ? length : 1);

	check(copy != NULL);
	memcpy(copy, octets, length);
	if (length >= 2)
		wire_store_u16(copy, id);
	return copy;
}

/* For struct engine_host. */

static inline void
host_close(void *arg, uint32_t attempt)
{
	(void)arg, (void)attempt;
}

static inline void
host_random(void *arg, void *octets, size_t length)
{
	(void)arg;
	memset(octets, 0x5a, length);
}

static inline uint32_t
host_wall(void *arg)
{
	(void)arg;
	return 1800000000;
}

#endif

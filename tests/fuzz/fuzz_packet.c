/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a whole IP packet, and as the payload of a proper one, through
 * the interception; first with a table of a few names, then with one that has
 * them all.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/packets.h"

#define LARGEST_PAYLOAD 4000

static void
try_packet(const struct table *table, const uint8_t *octets, size_t length,
    size_t whole_length)
{
	static uint8_t reply[INTERCEPT_REPLY_MAX];
	const struct answer_source source = sample_source(table);
	static struct interception in;
	const char *fault;

	/* Views of the one before must not be looked at again. */
	memset(&in, 0xa5, sizeof(in));
	in.policy = NULL;
	intercept(&in, &source, octets, length, whole_length, (uint32_t)length,
	    reply);
	fault = interception_fault(&in, octets, reply);
	if (fault == NULL && length < whole_length && in.reply_length > 0)
		fault = "a packet that was cut is answered";
	if (fault != NULL) {
		fprintf(stderr, "not true: %s\n", fault);
		abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct table *tables[2];
	static uint8_t packet[LARGEST_PAYLOAD + 48];
	size_t i, length;

	if (tables[0] == NULL) {
		tables[0] = sample_table(false);
		tables[1] = sample_table(true);
	}
	for (i = 0; i < 2; i++) {
		try_packet(tables[i], data, size, size);
		try_packet(tables[i], data, size, size + 1);
		if (size > LARGEST_PAYLOAD)
			continue;
		length = packet_around(packet, i == 0 ? AF_INET6 : AF_INET,
		    data, size);
		try_packet(tables[i], packet, length, length);
	}
	return 0;
}

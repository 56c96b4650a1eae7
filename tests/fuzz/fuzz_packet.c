/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a whole IP packet, and as the payload of a proper one, through
 * the interception; first with a table of a few names, then with one that has
 * them all; then with a rule that refuses everything, by which nothing passes.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/packets.h"
#include "tests/policy.h"

#define LARGEST_PAYLOAD 4000

static void
try_packet(const struct table *table, const struct policy_source *policy,
    const uint8_t *octets, size_t length, size_t whole_length)
{
	static uint8_t reply[INTERCEPT_REPLY_MAX];
	const struct answer_source source = sample_source(table);
	static struct interception in;
	const char *fault;

	/* Views of the one before must not be looked at again. */
	memset(&in, 0xa5, sizeof(in));
	in.policy = policy;
	intercept(&in, &source, octets, length, whole_length, (uint32_t)length,
	    reply);
	fault = interception_fault(&in, octets, reply);
	if (fault == NULL && policy == NULL && length < whole_length &&
	    in.reply_length > 0)
		fault = "a packet that was cut is answered";
	if (fault == NULL && policy != NULL && in.form != PACKET_STREAM &&
	    in.decision.verdict == VERDICT_PASS)
		fault = "a packet passes though everything is refused";
	if (fault != NULL) {
		fprintf(stderr, "not true: %s\n", fault);
		abort();
	}
}

static const struct policy_source *
refuse_all(void)
{
	static struct test_policy p;
	static struct policy_source source;

	if (source.rules == NULL &&
	    !test_policy_make(&p, "{ action = \"refuse\"; }", -1))
		abort();
	source.rules = p.rules;
	return &source;
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
		try_packet(tables[i], NULL, data, size, size);
		try_packet(tables[i], NULL, data, size, size + 1);
		try_packet(tables[i], refuse_all(), data, size, size + i);
		if (size > LARGEST_PAYLOAD)
			continue;
		length = packet_around(packet, i == 0 ? AF_INET6 : AF_INET,
		    data, size);
		try_packet(tables[i], NULL, packet, length, length);
		try_packet(tables[i], refuse_all(), packet, length, length);
		try_packet(tables[i], refuse_all(), packet, length - length / 9,
		    length);
	}
	return 0;
}

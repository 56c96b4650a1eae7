/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A corpus through the parsers and the interception:
 *
 *   corpus packets FILE     whole IP packets
 *   corpus messages FILE    DNS messages, each put into an IPv4 or IPv6 packet
 *
 * FILE has a 16-bit length before each.  Prints one line for each: the packet's
 * form, and for either of two tables (a few names; every name) verdict and
 * reason.  A message too long for a packet is only parsed.  Ends with an error
 * where something is not as it always must be.
 */
#include "resolver/dns/wire.h"
#include "tests/packets.h"

static const char *const forms[] = {
	[PACKET_OK] = "ok",
	[PACKET_STREAM] = "stream",
	[PACKET_FRAGMENT] = "fragment",
	[PACKET_NOT_UDP] = "not-udp",
	[PACKET_NOT_DNS] = "not-dns",
	[PACKET_ADDRESS] = "address",
	[PACKET_MALFORMED] = "malformed",
};

static void
one_table(const struct table *table, const uint8_t *octets, size_t length)
{
	static uint8_t reply[INTERCEPT_REPLY_MAX];
	const struct answer_source source = sample_source(table);
	static struct interception in;
	const char *fault;

	intercept(&in, &source, octets, length, length, (uint32_t)length,
	    reply);
	fault = interception_fault(&in, octets, reply);
	if (fault != NULL) {
		fprintf(stderr, "corpus: not true: %s\n", fault);
		exit(1);
	}
	printf(" %s %s", decide_verdict_text(in.decision.verdict),
	    decide_reason_text(in.decision.reason));
}

static void
one(struct table *tables[2], const uint8_t *octets, size_t length)
{
	struct packet packet;
	int i;

	printf("%s", forms[packet_parse(&packet, octets, length, length)]);
	for (i = 0; i < 2; i++)
		one_table(tables[i], octets, length);
	printf("\n");
}

/* The whole file; its length. */
static size_t
load(const char *path, uint8_t *octets, size_t size)
{
	FILE *file = fopen(path, "rb");
	size_t length;

	if (file == NULL) {
		perror(path);
		exit(2);
	}
	length = fread(octets, 1, size, file);
	fclose(file);
	return length;
}

int
main(int argc, char **argv)
{
	static uint8_t octets[16 << 20], packet[UINT16_MAX + 48];
	struct question question;
	struct table *tables[2];
	struct wire_reader r;
	const uint8_t *item;
	bool messages;
	uint16_t length;
	int family = AF_INET;
	size_t n;

	if (argc != 3) {
		fprintf(stderr, "usage: corpus packets|messages FILE\n");
		return 2;
	}
	messages = strcmp(argv[1], "messages") == 0;
	tables[0] = sample_table(false);
	tables[1] = sample_table(true);
	r = wire_reader_over(octets, load(argv[2], octets, sizeof(octets)));
	while (wire_left(&r) > 0) {
		length = wire_read_u16(&r);
		item = wire_read_octets(&r, length);
		if (item == NULL) {
			fprintf(stderr, "%s: ends in a message\n", argv[2]);
			return 2;
		}
		if (!messages) {
			one(tables, item, length);
			continue;
		}
		if (length > UINT16_MAX - 48) {
			question_parse(&question, item, length);
			printf("too-long\n");
			continue;
		}
		n = packet_around(packet, family, item, length);
		one(tables, packet, n);
		family = family == AF_INET ? AF_INET6 : AF_INET;
	}
	table_close(tables[0]);
	table_close(tables[1]);
	return 0;
}

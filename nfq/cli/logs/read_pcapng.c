/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record's packets, of the blocks that pcapng.c writes. */
#include "policy/audit/pcapng_block.h"
#include "policy/audit/raw_packet.h"
#include "nfq/cli/logs/read_back.h"

#include <string.h>

#define EPB_FLAGS	2U
#define INBOUND		1U
#define DIRECTION	3U		/* bits of the flags */
#define LENGTH_PREFIX	2U		/* octets of a message over TCP */

/* What a packet's options say. */
struct about {
	bool answer;
	size_t text;			/* of the comment; 0: none */
};

/* The options of the block at octets[at]. */
static struct about
read_options(const uint8_t *octets, size_t at, size_t length)
{
	struct pcapng_options options = pcapng_options(octets, at, length);
	struct about about = { .answer = false };
	struct pcapng_option option;

	while (pcapng_option_next(&options, &option)) {
		if (option.code == PCAPNG_COMMENT)
			about.text = option.at;
		else if (option.code == EPB_FLAGS &&
		    option.length >= sizeof(uint32_t))
			about.answer = (pcapng_u32(octets + option.at) &
			    DIRECTION) == INBOUND;
	}
	return about;
}

/* Octets of the message that the packet carries, without TCP's prefix. */
static void
take_payload(struct audit_read_back *back, bool answer,
    const struct raw_packet *packet, uint16_t announced[2])
{
	const uint8_t *payload = packet->payload;
	size_t length = packet->length;

	if (packet->first) {
		if (answer)
			back->record.answer_length = 0;
		else
			back->record.question_length = 0;
		announced[answer] = UINT16_MAX;
	}
	if (packet->first && packet->stream) {
		if (length < LENGTH_PREFIX)
			return;
		announced[answer] = (uint16_t)(payload[0] << 8 | payload[1]);
		payload += LENGTH_PREFIX;
		length -= LENGTH_PREFIX;
	}
	audit_read_back_message(back, answer, payload, length);
}

static void
take_ends(struct audit_record *r, const struct raw_packet *packet)
{
	r->family = packet->family;
	r->stream = packet->stream;
	memcpy(r->client, packet->source, sizeof(r->client));
	memcpy(r->server, packet->destination, sizeof(r->server));
	r->client_port = packet->source_port;
	r->server_port = packet->destination_port;
}

/* The packet of the block at octets[at]; false: it is none of ours. */
static bool
take_packet(struct audit_read_back *back, uint64_t *asked_ns,
    const struct about *about, const uint8_t *block, size_t length,
    uint16_t announced[2])
{
	const size_t captured = pcapng_u32(block + 20);
	const uint64_t time_ns = (uint64_t)pcapng_u32(block + 12) << 32 |
	    pcapng_u32(block + 16);
	struct raw_packet packet;

	if (captured > length - PCAPNG_PACKET_HEADER ||
	    !raw_packet_read(&packet, block + PCAPNG_PACKET_HEADER, captured))
		return false;
	take_payload(back, about->answer, &packet, announced);
	if (about->answer)
		back->record.time_ns = time_ns;
	else {
		*asked_ns = time_ns;
		take_ends(&back->record, &packet);
	}
	return true;
}

static void
cut(uint16_t *length, uint16_t announced)
{
	if (*length > announced)
		*length = announced;
}

bool
audit_read_pcapng(struct audit_read_back *back, uint64_t *asked_ns,
    size_t *text, const struct audit_reading *reading, const uint8_t *octets)
{
	uint16_t announced[2] = { UINT16_MAX, UINT16_MAX };
	size_t length;
	bool asked = false;

	/* The reader has seen that the blocks are whole. */
	for (size_t at = 0; at + PCAPNG_BLOCK_MIN <= reading->length;
	    at += length) {
		struct about about;

		length = pcapng_u32(octets + at + 4);
		if (length < PCAPNG_BLOCK_MIN || length > reading->length - at)
			return false;
		if (pcapng_u32(octets + at) != PCAPNG_PACKET ||
		    length < PCAPNG_PACKET_HEADER + sizeof(uint32_t))
			continue;
		about = read_options(octets, at, length);
		if (about.text != 0)
			*text = about.text;
		if (take_packet(back, asked_ns, &about, octets + at, length,
		    announced))
			asked |= !about.answer;
	}
	cut(&back->record.question_length, announced[false]);
	cut(&back->record.answer_length, announced[true]);
	return asked && *text != 0;
}

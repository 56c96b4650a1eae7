/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks of pcapng and their options, read in place from octets that may be
 * anything; little-endian, as nfdns writes them (draft-ietf-opsawg-pcapng
 * sections 3.1, 3.5 and 4).
 */
#ifndef NFDNS_POLICY_AUDIT_PCAPNG_BLOCK_H
#define NFDNS_POLICY_AUDIT_PCAPNG_BLOCK_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PCAPNG_SECTION		0x0a0d0d0aU
#define PCAPNG_INTERFACE	1U
#define PCAPNG_STATISTICS	5U
#define PCAPNG_PACKET		6U
#define PCAPNG_BLOCK_MIN	12U
#define PCAPNG_PACKET_HEADER	28U	/* octets before the packet */
#define PCAPNG_COMMENT		1U	/* an option of any block */

static inline uint32_t
pcapng_u32(const uint8_t *octets)
{
	uint32_t value;

	memcpy(&value, octets, sizeof(value));
	return le32toh(value);
}

/* Octets of a whole block before its options; 0: none of the kinds above. */
size_t pcapng_options_at(const uint8_t *block, size_t length);

/* The options of a block; plain values. */
struct pcapng_options {
	const uint8_t *octets;		/* borrowed */
	size_t at, end;
};

struct pcapng_option {
	uint16_t code;
	size_t at;			/* where its octets are */
	size_t length;
};

/* Of the whole block at octets[at]; none if it is of another kind. */
struct pcapng_options pcapng_options(const uint8_t *octets, size_t at,
    size_t length);

/* The next option, whose octets lie within the block; false: the last was it. */
bool pcapng_option_next(struct pcapng_options *options,
    struct pcapng_option *option);

#endif

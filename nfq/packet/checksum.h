/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Internet checksum, RFC 1071.  The sum is the same in either octet order
 * but for a swap of the result (section 2 (B)), so words are added as they lie
 * in memory, 64 bits at a time: what overflows comes back in at the bottom, as
 * section 2 (C) has it for words of any width.
 */
#ifndef NFDNS_NFQ_PACKET_CHECKSUM_H
#define NFDNS_NFQ_PACKET_CHECKSUM_H

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Adds octets to a running sum (start with 0).  Every piece but the last has
 * an even length; an odd last one counts as if a zero octet followed.
 */
uint64_t checksum_add(uint64_t sum, const void *octets, size_t length);

/* Adds words as they lie in memory. */
static inline uint64_t
checksum_add_word(uint64_t sum, uint64_t word)
{
	sum += word;
	return sum + (sum < word);
}

/* Adds one 16-bit word, given in host order. */
static inline uint64_t
checksum_add_u16(uint64_t sum, uint16_t word)
{
	return checksum_add_word(sum, htons(word));
}

/*
 * The complement of the folded sum, to be stored as it is (memcpy) in the
 * packet.  0 over octets that hold a right checksum already.
 */
static inline uint16_t
checksum_finish(uint64_t sum)
{
	uint32_t half;

	/* Both halves hold their sum then, the upper with the lower's carry. */
	sum += sum << 32 | sum >> 32;
	half = (uint32_t)(sum >> 32);
	half += half << 16 | half >> 16;
	return (uint16_t)~(half >> 16);
}

#endif

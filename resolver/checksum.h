/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Internet checksum, RFC 1071.  The octet order of the machine only swaps
 * the result's octets (section 2 (B)), so words are added as they lie in
 * memory. They are added 64 bits at a time, with the carry added at the bottom
 * (section 2 (C)).
 */
#ifndef NFDNS_RESOLVER_CHECKSUM_H
#define NFDNS_RESOLVER_CHECKSUM_H

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Adds octets to a running sum, which starts with 0.  Only the last piece may
 * have an odd length; it counts as if a zero octet followed.
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
 * The complement of the folded sum, to be copied into the packet (memcpy).  0
 * if the octets contain a correct checksum.
 */
static inline uint16_t
checksum_finish(uint64_t sum)
{
	uint32_t half;

	/* Adds both halves; the upper one gets the carry of the lower. */
	sum += sum << 32 | sum >> 32;
	half = (uint32_t)(sum >> 32);
	half += half << 16 | half >> 16;
	return (uint16_t)~(half >> 16);
}

#endif

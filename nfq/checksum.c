/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/checksum.h"

#include <arpa/inet.h>
#include <string.h>

/*
 * The sum is the same in either octet order but for a swap of the result
 * (RFC 1071 section 2 (B)), so words are added as they lie in memory, 64 bits
 * at a time: what overflows comes back in at the bottom, as section 2 (C) has
 * it for words of any width.
 */
static uint64_t
add(uint64_t sum, uint64_t word)
{
	sum += word;
	return sum + (sum < word);
}

uint64_t
checksum_add(uint64_t sum, const void *octets, size_t length)
{
	const uint8_t *p = octets;
	uint64_t word;
	uint32_t half;

	for (; length >= sizeof(word); length -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sum = add(sum, word);
		p += sizeof(word);
	}
	if (length >= sizeof(half)) {
		memcpy(&half, p, sizeof(half));
		sum = add(sum, half);
		p += sizeof(half);
		length -= sizeof(half);
	}
	if (length > 0) {
		half = 0;
		memcpy(&half, p, length);
		sum = add(sum, half);
	}
	return sum;
}

uint64_t
checksum_add_u16(uint64_t sum, uint16_t word)
{
	return add(sum, htons(word));
}

uint16_t
checksum_finish(uint64_t sum)
{
	sum = (sum >> 32) + (sum & 0xffffffff);
	sum = (sum >> 32) + (sum & 0xffffffff);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)~sum;
}

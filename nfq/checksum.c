/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/checksum.h"

#include <arpa/inet.h>
#include <string.h>

/*
 * The sum is the same in either octet order but for a swap of the result
 * (RFC 1071 section 2 (B)), so words are added as they lie in memory, 32 bits
 * at a time: 2^32 of them fit a 64-bit sum, more than any packet has.
 */
uint64_t
checksum_add(uint64_t sum, const void *octets, size_t length)
{
	const uint8_t *p = octets;
	uint32_t word;
	uint16_t half;

	for (; length >= sizeof(word); length -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sum += word;
		p += sizeof(word);
	}
	if (length >= sizeof(half)) {
		memcpy(&half, p, sizeof(half));
		sum += half;
		p += sizeof(half);
		length -= sizeof(half);
	}
	if (length > 0) {
		half = 0;
		memcpy(&half, p, 1);
		sum += half;
	}
	return sum;
}

uint64_t
checksum_add_u16(uint64_t sum, uint16_t word)
{
	return sum + htons(word);
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/checksum.h"

#include <string.h>

static inline uint64_t
load_u64(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

uint64_t
checksum_add(uint64_t sum, const void *octets, size_t length)
{
	const uint8_t *p = octets;
	uint32_t half;
	uint16_t quarter;

	for (; length >= 4 * sizeof(sum); length -= 4 * sizeof(sum)) {
		sum = checksum_add_word(sum, load_u64(p));
		sum = checksum_add_word(sum, load_u64(p + 8));
		sum = checksum_add_word(sum, load_u64(p + 16));
		sum = checksum_add_word(sum, load_u64(p + 24));
		p += 4 * sizeof(sum);
	}
	for (; length >= sizeof(sum); length -= sizeof(sum)) {
		sum = checksum_add_word(sum, load_u64(p));
		p += sizeof(sum);
	}
	/* The last octets, fewer than eight, by the bits of their number. */
	if (length & sizeof(half)) {
		memcpy(&half, p, sizeof(half));
		sum = checksum_add_word(sum, half);
		p += sizeof(half);
	}
	if (length & sizeof(quarter)) {
		memcpy(&quarter, p, sizeof(quarter));
		sum = checksum_add_word(sum, quarter);
		p += sizeof(quarter);
	}
	if (length & 1)
		sum = checksum_add_u16(sum, (uint16_t)(*p << 8));
	return sum;
}

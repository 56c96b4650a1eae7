/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/siphash.h"

#include <endian.h>
#include <string.h>

struct state {
	uint64_t v[4];
};

static uint64_t
rotate(uint64_t word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static void
rounds(struct state *s, unsigned int count)
{
	uint64_t *v = s->v;

	while (count-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32) + v[3];
		v[2] += v[1];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static uint64_t
load(const uint8_t *octets)
{
	uint64_t word;

	memcpy(&word, octets, sizeof(word));
	return le64toh(word);
}

static void
take_word(struct state *s, uint64_t word)
{
	s->v[3] ^= word;
	rounds(s, 2);
	s->v[0] ^= word;
}

uint64_t
siphash(const uint8_t key[static SIPHASH_KEY], const void *octets,
    size_t length)
{
	const uint64_t k0 = load(key), k1 = load(key + 8);
	struct state s = { {
		k0 ^ UINT64_C(0x736f6d6570736575),
		k1 ^ UINT64_C(0x646f72616e646f6d),
		k0 ^ UINT64_C(0x6c7967656e657261),
		k1 ^ UINT64_C(0x7465646279746573),
	} };
	const uint8_t *at = octets;
	uint8_t last[8] = { 0 };
	size_t left = length;

	for (; left >= 8; left -= 8, at += 8)
		take_word(&s, load(at));
	if (left > 0)
		memcpy(last, at, left);
	last[7] = (uint8_t)length;
	take_word(&s, load(last));
	s.v[2] ^= 0xff;
	rounds(&s, 4);
	return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}

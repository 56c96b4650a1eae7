/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters of an image.  They reject most names that the image does not answer,
 * without a lookup, and never one that it does: a name of the table, a name
 * below a wildcard, or a name of the table followed by an element of the search
 * list.
 *
 * "Tails" holds the last eight octets of names, of the names behind a "*", and
 * of the elements of the search list.  Shorter elements are not in it; a
 * shorter wildcard sets all bits.
 *
 * "Heads" holds the first label, and the first two labels, of all names except
 * wildcards.  Appending or removing an element of the search list does not
 * change them.
 *
 * The size of both is a power of two of words, so that a filter can be folded
 * to half its size.
 */
#ifndef NFDNS_RESOLVER_IMAGE_IMAGE_FILTER_H
#define NFDNS_RESOLVER_IMAGE_IMAGE_FILTER_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <xxhash.h>

#define IMAGE_TAIL_OCTETS	8

/* Limits of a filter's words, as powers of two. */
#define IMAGE_TAIL_BITS_MAX	17
#define IMAGE_HEAD_BITS_MAX	26

/* Which names have a tail. */
#define IMAGE_TAIL_ANY		1U
#define IMAGE_TAIL_WILDCARD	2U

/* The first octets of a wire name, at most seven, as a number. */
static inline uint64_t
image_few_octets(const uint8_t *octets, size_t length)
{
	uint64_t number;

	memcpy(&number, octets, sizeof(number));
	return le64toh(number) << (64 - 8 * length);
}

static inline uint32_t
image_tail_mix(uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15U >> 32);
}

/*
 * Hashes the last eight octets of a wire name to 32 bits.  Reads eight octets
 * even if the name is shorter; the octets behind it do not change the hash.
 */
static inline uint32_t
image_tail(const uint8_t *octets, size_t length)
{
	uint64_t key;

	if (length >= sizeof(key)) {
		memcpy(&key, octets + length - sizeof(key), sizeof(key));
		key = le64toh(key);
	} else {
		key = image_few_octets(octets, length);
	}
	return image_tail_mix(key);
}

/*
 * The same for a name that is followed by an element of the search list: octets
 * and length are those of its labels, and the hash is as if the root followed
 * them.
 */
static inline uint32_t
image_tail_before(const uint8_t *octets, size_t length)
{
	uint64_t key;

	if (length >= sizeof(key) - 1) {
		memcpy(&key, octets + length + 1 - sizeof(key), sizeof(key));
		key = le64toh(key) << 8 >> 8;
	} else {
		key = image_few_octets(octets, length) >> 8;
	}
	return image_tail_mix(key);
}

static inline size_t
image_tail_word(uint32_t tail, uint32_t mask)
{
	return tail >> 5 & mask;
}

static inline unsigned int
image_tail_shift(uint32_t tail)
{
	return (tail & 31) * 2;
}

/*
 * Hashes the first label of a wire name: its first and its last eight octets.
 * Reads eight octets even if the label is shorter.
 */
static inline uint64_t
image_head(const uint8_t *octets)
{
	const size_t length = 1u + octets[0];
	uint64_t first, last = 0;
	__uint128_t product;

	if (length >= sizeof(first)) {
		memcpy(&first, octets, sizeof(first));
		memcpy(&last, octets + length - sizeof(last), sizeof(last));
	} else {
		first = image_few_octets(octets, length);
	}
	product = (__uint128_t)(first ^ 0x2d358dccaa6c78a5U) *
	    (last ^ 0x8bb84b93962eacc9U);
	return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* Hashes the first two labels of a wire name, which must have two. */
static inline uint64_t
image_head_of_two(const uint8_t *octets)
{
	size_t length = 1u + octets[0];

	return XXH3_64bits(octets, length + 1u + octets[length]);
}

static inline size_t
image_head_word(uint64_t head, uint32_t mask)
{
	return (uint32_t)(head >> 32) & mask;
}

static inline unsigned int
image_head_bit(uint64_t head)
{
	return head & 63;
}

#endif

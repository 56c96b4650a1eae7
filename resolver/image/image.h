/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table image: one flat file in the byte order of the machine.
 * builder_write.c writes it, image_check.c checks it, table.c reads it; no other
 * file knows the format.  It holds the table and nothing else: how answers are
 * given is a setting (resolver/answer/settings.h).  From front to back, without
 * gaps:
 *
 *   header
 *   strings   search list: wire names; zones: u8 unknown policy, wire name;
 *             files of sources: u16 length, path; zeros up to a multiple of 8
 *   filters   tails, then heads, below
 *   policy    octets of the rules that are compiled with the table, zeros up to
 *             a multiple of 8; only policy/match knows what they mean
 *   slots     a hash table, a power of two of them, open addressing with
 *             linear probing; node 0: empty
 *   nodes     in the order of the slots, each followed by its own records
 *
 * This order allows the check to be one walk from front to back, and it puts
 * a name, its records and their data into one or two cache lines.
 *
 * A node is an image_node, the name, zeros up to a multiple of 4; then, unless
 * it is an alias or has none, its set: an image_set, for each RRset an
 * image_rrset, rdata, zeros up to a multiple of 4, and the offsets of the sets
 * that were joined to it.  An alias points at the set of another node, which the
 * set leads to: rules judge both names.  A node without a set is an empty
 * non-terminal (RFC 4592 section 2.2.2).  The node of a wildcard holds the name
 * without the "*".
 *
 * Rdata is in wire format, uncompressed: of one fixed length, tightly packed
 * (A, AAAA), or each behind its length in network order (all others).
 */
#ifndef NFDNS_RESOLVER_IMAGE_IMAGE_H
#define NFDNS_RESOLVER_IMAGE_IMAGE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <xxhash.h>

#include "resolver/image/table.h"

#define IMAGE_MAGIC	"nfdnsimg"
#define IMAGE_VERSION	8

/* Offsets are 32 bits wide. */
#define IMAGE_MAX_OCTETS	((uint64_t)UINT32_MAX)

struct image_header {
	char magic[8];
	uint32_t version;
	uint32_t header_size;
	uint64_t total_size;
	uint64_t checksum;		/* XXH3, 64 bits, of all that follows */
	uint64_t wildcard_labels[2];	/* bit n: some "*.NAME" has n labels in NAME */
	uint64_t soa_labels[2];		/* bit n: some name of n labels has an SOA */
	uint8_t loaded;			/* 0: no table has loaded yet */
	uint8_t search_count;
	uint8_t zone_count;
	uint8_t tail_bits;		/* 2^tail_bits words of the filter */
	uint8_t head_bits;
	uint8_t zeros[3];
	uint32_t source_count;
	uint32_t strings;		/* offsets from the start of the image */
	uint32_t tails;
	uint32_t heads;
	uint32_t policy;
	uint32_t policy_size;		/* octets */
	uint32_t policy_names;		/* of the policy's files */
	uint32_t slots;
	uint32_t nodes;
	uint32_t slot_bits;		/* 2^slot_bits slots */
	uint32_t node_count;		/* filled slots; at least one is empty */
	uint32_t name_count;		/* nodes that have records */
};

struct image_slot {
	uint32_t tag;			/* upper half of the hash */
	uint32_t node;			/* offset; 0: empty */
};

struct image_node {
	uint32_t set;			/* offset; 0: empty non-terminal */
	uint32_t line;
	uint16_t source;		/* which of the files */
	uint8_t flags;			/* NAME_*, IMAGE_WILDCARD */
	uint8_t length;			/* octets of the name behind this */
};

#define IMAGE_WILDCARD	0x80		/* flag of a node */

struct image_set {
	uint16_t count;			/* RRsets, at least 1 */
	uint8_t back;			/* its node begins so many times 4 octets
					 * before it */
	uint8_t origins;		/* sets of other names whose records it has,
					 * too: u32 offsets behind the RRsets */
};

#define IMAGE_ORIGINS	3		/* of one set, at most */

struct image_rrset {
	uint16_t type;
	uint16_t rdlength;		/* 0: each has its own */
	uint32_t ttl;
	uint32_t count;			/* records, at least 1 */
	uint32_t size;			/* octets of rdata, padding not counted */
};

static inline size_t
image_pad4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static inline size_t
image_pad8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* The offsets of the sets that were joined to the one at that offset. */
static inline const uint32_t *
image_origins(const uint8_t *image, uint32_t offset, unsigned int *count)
{
	const struct image_set *set = (const void *)(image + offset);
	const uint8_t *at = (const uint8_t *)(set + 1);

	*count = set->origins;
	for (uint32_t n = *count > 0 ? set->count : 0; n > 0; n--) {
		const struct image_rrset *rrset = (const void *)at;

		at += sizeof(*rrset) + image_pad4(rrset->size);
	}
	return (const void *)at;
}

/* A filter of 2^bits words. */
static inline uint64_t
image_filter_octets(unsigned int bits)
{
	return (uint64_t)sizeof(uint64_t) << bits;
}

/*
 * A name and a wildcard just above it are different keys with one text, so
 * wildcards hash with a seed of their own.
 */
static inline uint64_t
image_hash(const uint8_t *octets, size_t length, uint8_t wildcard)
{
	return wildcard ? XXH3_64bits_withSeed(octets, length, 1) :
	    XXH3_64bits(octets, length);
}

static inline uint32_t
image_hash_tag(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

/* Where probing begins; mask is the number of slots less one. */
static inline uint32_t
image_hash_slot(uint64_t hash, uint32_t mask)
{
	return (uint32_t)hash & mask;
}

/*
 * Checks everything that lookups and answers rely on: sizes, checksum, every
 * offset, length and name inside, and that no name has several CNAMEs; those
 * may be in a draft, which cname_check_drop_faulty() has not seen yet.  Returns
 * NULL if the image is sound, or a static text that says what is wrong with it.
 */
const char *image_check(const uint8_t *image, size_t size, bool draft);

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

/* An open table: table_open.c sets it up, table.c looks names up in it. */

/* How many labels names of one kind have: each number once, largest first. */
struct table_depths {
	size_t count;
	uint8_t labels[NAME_MAX_LABELS + 1];
};

struct table {
	const uint8_t *image;
	size_t size;
	const struct image_header *header;
	const struct image_slot *slots;
	uint32_t mask;
	uint32_t tail_mask, head_mask;
	const uint64_t *tails, *heads;	/* of the filters */
	bool short_search;		/* an element is too short for tails */
	struct table_depths wildcards;	/* of the names behind the "*" */
	struct table_depths soas;	/* of names that have an SOA */
	bool loaded;
	size_t search_count;
	size_t zone_count;
	struct dns_name search[MESH_MAX_SEARCH];
	struct mesh_zone zones[MESH_MAX_ZONES];	/* deepest first */
};

static inline const struct image_node *
table_node(const struct table *t, uint32_t node)
{
	return (const void *)(t->image + node);
}

static inline const uint8_t *
table_node_name(const struct image_node *node)
{
	return (const uint8_t *)(node + 1);
}

/* Reads a name of the image.  Returns the octet behind it. */
const uint8_t *table_load_name(struct dns_name *name, const uint8_t *octets);

#endif

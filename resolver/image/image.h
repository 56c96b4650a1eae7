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
 *   filters   tails, then heads: image_filter.h
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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

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

#endif

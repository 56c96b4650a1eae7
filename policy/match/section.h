/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The section of compiled rules, in the byte order of the machine: rules_build.c
 * writes it, rules_open.c checks it, rules.c reads it; no other file knows the
 * format.  A header, then the areas in the order of enum rules_area, each
 * aligned to 8 octets.  Offsets and spans count items of an area from its start.
 *
 * What rules say about names stands in one hash table for all of them, a power
 * of two of slots with linear probing.  A slot's name has two lists of codes:
 * "at" is for a question for this name, "below" for one below it for which no
 * deeper name has a "below".  Lists have what names above say, too, so a
 * question needs one of them.  A code is RULES_CODE(number, excluded): the rule
 * of this number is for the name, or its "not" excludes the name.  Beside it
 * stand the records that the rule answers for this name; without any, it answers
 * the rule's own.  Lists are in ascending order of codes.
 *
 * A filter before the slots, some bits for each name, tells that no rule says
 * anything about most names.
 */
#ifndef NFDNS_POLICY_MATCH_SECTION_H
#define NFDNS_POLICY_MATCH_SECTION_H

#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#include "policy/match/rules.h"

#define SECTION_MAGIC	"nfdnsrul"
#define SECTION_VERSION	3

/* Slots that one look-up visits at most. */
#define SECTION_RUN	256
#define SECTION_SLOT_BITS_MAX	27
#define SECTION_FILTER_BITS_MAX	30

#define RULES_CODE(number, excluded) ((uint32_t)(number) << 1 | (excluded))

enum rules_area {
	AREA_RULES,		/* struct section_rule */
	AREA_FILTER,		/* uint64_t: 2^filter_bits bits */
	AREA_SLOTS,		/* struct section_slot */
	AREA_NODES,		/* struct section_node */
	AREA_IDS,		/* struct section_id: a hash table, too */
	AREA_PREFIXES,		/* struct section_prefix */
	AREA_LISTS,		/* struct section_code */
	AREA_RRSETS,		/* struct section_rrset */
	AREA_NUMBERS,		/* uint32_t */
	AREA_OCTETS,		/* texts, names, addresses */
	RULES_AREAS
};

struct section_span {
	uint32_t first;
	uint32_t count;
};

struct section_code {
	uint32_t code;
	uint32_t records;		/* of AREA_RRSETS, from 1: the first; 0: none */
};

/* Types at one name. */
#define SECTION_RRSETS_MAX	64

/* A set of records; those of one answer lie behind each other. */
struct section_rrset {
	uint32_t rdata;			/* in OCTETS; in ascending order */
	uint32_t size;
	uint32_t ttl;
	uint16_t type;
	uint16_t count;			/* records, as in struct rrset */
	uint32_t is_last;		/* 0 or 1 */
};

struct section_header {
	char magic[8];
	uint32_t version;
	uint32_t header_size;
	uint64_t total_size;
	uint64_t below_labels[2];	/* bit n: a name of n labels has a "below" */
	uint64_t offsets[RULES_AREAS];
	uint64_t sizes[RULES_AREAS];	/* octets */
	struct section_span others;	/* the list of rules found by no key */
	uint32_t rule_count;
	uint32_t slot_bits;
	uint32_t filter_bits;
	uint32_t id_bits;
	uint32_t seed;			/* of the names' hash */
	uint32_t zero;			/* no padding */
};

struct section_slot {
	uint32_t tag;			/* upper half of the hash */
	uint32_t name;			/* in OCTETS: length, wire name; 0: empty */
	uint32_t node;
};

struct section_node {
	struct section_span at, below;
};

enum section_id_kind { ID_NONE, ID_USER, ID_GROUP };

struct section_id {
	uint32_t kind;
	uint32_t id;
	struct section_span list;
};

struct section_prefix {
	uint8_t address[16];
	uint32_t length;		/* bits */
};

/* Numbers are in ascending order, and so are prefixes, none within another. */
struct section_conditions {
	uint32_t keys;			/* bit n: enum rule_key n is given */
	struct section_span types, users, groups;
	struct section_span nameservers[2], clients[2];	/* IPv4, IPv6 */
	uint32_t protocols, source;
};

struct section_rule {
	struct section_conditions match, not;
	struct section_span name;	/* in OCTETS, as the other spans are */
	struct section_span from, to;
	uint32_t records;		/* as in struct section_code */
	uint32_t from_below, to_below;
	uint32_t line;
	uint32_t action, only, observe, log;
	struct policy_rate rate;
};

static inline uint64_t
section_hash(const uint8_t *octets, size_t length, uint32_t seed)
{
	return XXH3_64bits_withSeed(octets, length, seed);
}

/* Where the search for a user or group begins. */
static inline uint32_t
section_id_hash(uint32_t kind, uint32_t id)
{
	const uint32_t x = (id ^ kind << 30) * UINT32_C(0x9e3779b1);

	return x ^ x >> 15;
}

static inline size_t
section_pad8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* Conditions that ask nothing of the question itself, only of the asker. */
#define SECTION_ASKER_KEYS (1u << RULE_USERS | 1u << RULE_GROUPS | \
	1u << RULE_NAMESERVERS | 1u << RULE_CLIENTS | 1u << RULE_PROTOCOLS)

/*
 * A rule that speaks for all rules with the same conditions on the asker, for
 * rules_could_deny().  Bits are RULE_UDP and RULE_TCP.
 */
struct section_deny {
	const struct section_rule *rule;
	uint8_t denies;			/* some question */
	uint8_t allows;			/* every question */
};

/*
 * Fills "denies", of RULES_TRIES items, from the rules in their order, and
 * returns how many there are; *more: there would be others.
 */
size_t section_find_denies(const struct rules *rules,
    struct section_deny *denies, bool *more);

/* A section that was checked: rules_open() makes it. */
struct rules {
	const struct section_header *header;
	const struct section_rule *rules;
	const uint64_t *filter;
	uint32_t filter_mask;
	const struct section_slot *slots;
	uint32_t slot_mask;
	const struct section_node *nodes;
	const struct section_id *ids;
	uint32_t id_mask;
	const struct section_prefix *prefixes;
	const struct section_code *lists;
	const struct section_rrset *rrsets;
	const uint32_t *numbers;
	const uint8_t *octets;
	struct depths {			/* of names with a "below", deepest first */
		size_t count;
		uint8_t labels[NAME_MAX_LABELS + 1];
	} depths;
	bool more_denies;		/* than there is room for: all are denied */
	size_t deny_count;
	struct section_deny denies[RULES_TRIES];
};

#endif

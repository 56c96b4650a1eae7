/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A section while it is built, for the files of this room: rules_build.c has the
 * rules, build_names.c their names, build_sets.c reads files of names.
 */
#ifndef NFDNS_POLICY_MATCH_BUILD_STATE_H
#define NFDNS_POLICY_MATCH_BUILD_STATE_H

#include "policy/match/rules.h"
#include "policy/match/section.h"

/* A growable area; all of it is from malloc(3). */
struct area {
	uint8_t *octets;
	size_t size, room;
};

/* A name that rules say something about. */
struct build_name {
	uint32_t name;		/* in OCTETS: length, wire name */
	uint32_t first;		/* of its entries, from 1; 0: none */
	uint32_t node;
	uint32_t set;		/* the last that had it, from 1 */
	uint8_t set_kinds;	/* bit n: as enum policy_name_kind n */
	uint8_t labels;
	bool has_below;		/* one of its entries is for names below */
};

/* What one rule says about it. */
struct build_entry {
	struct section_code code;
	uint32_t next;
	uint32_t kind;		/* enum policy_name_kind, not SET; or: */
};

/* The entry of a zone of policies: its names above say nothing here. */
#define BUILD_RESET	(POLICY_SET + 1)

/* Rules of a zone of policies. */
struct build_zone {
	uint32_t first, last;	/* their numbers */
};

/* A hash table of numbers from 1. */
struct build_index {
	uint32_t *slots;
	size_t mask, count;
};

/* A name of a file; one may be in it as more than one kind. */
struct set_name {
	uint32_t name;		/* from 1: build_name */
	uint32_t kind;
};

struct build_set {
	struct area names;	/* struct set_name, each once */
	size_t distinct;	/* different names */
};

struct builder {
	const struct policy *policy;
	const char *file;
	struct diag *diag;
	int error;		/* the first; from then on nothing is done */
	struct section_header header;
	struct area areas[RULES_AREAS];
	struct area names;	/* struct build_name */
	struct area entries;	/* struct build_entry */
	struct area spans;	/* struct section_span: lists, each once */
	struct build_index by_name;
	struct build_index by_list;
	struct build_index by_records;
	struct build_set *sets;
	struct rules_file *files;	/* of policy->sets */
	size_t file_errors;	/* of all of them */
	struct area zones;	/* struct build_zone, numbered from 1 */
	struct area from;	/* uint32_t: which of policy->rules a rule is of */
	struct area others;	/* struct section_code: rules found by nothing */
};

#define AREA_ITEMS(area, type)	((area)->size / sizeof(type))
#define AREA_AT(area, type, n)	(&((type *)(void *)(area)->octets)[n])

static inline size_t
build_set_count(const struct build_set *set)
{
	return AREA_ITEMS(&set->names, struct set_name);
}

/*
 * Room for so many octets more at the end of an area, zeros; NULL after an error
 * or for lack of memory, which is one.
 */
void *build_grow(struct builder *b, struct area *area, size_t octets);

/* Copies octets to the end of AREA_OCTETS, as a span of "items". */
struct section_span build_octets(struct builder *b, const void *octets,
    size_t size, size_t items);

/* The number, from 1, of a name; 0 after an error. */
uint32_t build_name_get(struct builder *b, const struct dns_name *name);

/* Takes "*." off the name, POLICY_BELOW then; else POLICY_EXACT. */
enum policy_name_kind build_kind_take(struct dns_name *name);

/* Notes that the code is about the name of that number; "records" go with it. */
void build_entry_add(struct builder *b, uint32_t name, uint32_t kind,
    uint32_t code, uint32_t records);

/*
 * Notes where wildcards of the zone's names above end: at the name of that number
 * and at those between it and the first above about which there are rules for names
 * below.
 */
void build_resets_add(struct builder *b, uint32_t number, uint32_t zone);

/*
 * The span of a list, which stands in AREA_LISTS once.  Sorts it.  Returns the
 * span; *count becomes what is left of it without repetitions.
 */
struct section_span build_list(struct builder *b, struct section_code *codes,
    size_t *count);

/* Makes room for one more in an index; false: there is no memory. */
bool build_index_grow(struct builder *b, struct build_index *index,
    uint64_t (*hash)(const struct builder *, uint32_t));

/*
 * Adds a set of records behind the last one: octets as in struct rrset.  Sets
 * that follow each other become one answer by build_records_end().
 */
void build_rrset_add(struct builder *b, const struct section_rrset *rrset,
    const uint8_t *octets);

/*
 * Ends the answer that begins with the set of number "first" (AREA_ITEMS() of
 * AREA_RRSETS before it).  Returns its number from 1, that of an equal one if there
 * is one; 0 after an error, or if it has no sets.
 */
uint32_t build_records_end(struct builder *b, size_t first);

/* For qsort(3), of uint32_t. */
int build_compare_numbers(const void *left, const void *right);

/* Lists, nodes, slots and filter of all names. */
void build_names(struct builder *b);

/* Reads a file of names; errors go to b->diag. */
void build_set_read(struct builder *b, struct build_set *set,
    const struct source_text *text);

/*
 * Adds a rule behind the others, which is a copy of one of the policy with
 * another action or none; its addresses are those given.  Returns its number,
 * or 0 after an error.
 */
uint32_t build_rule_add(struct builder *b, const struct policy_rule *rule,
    const struct policy_address *addresses, uint32_t from);

/* Adds the rules of a zone of policies, which is policy->rules[from]. */
void build_zone_add(struct builder *b, uint32_t from);

/* How a rule is found: by its names, its users, its groups, or always. */
enum found_by { BY_NAME, BY_USER, BY_GROUP, BY_NOTHING };

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets and maps: the element of a key, as net/netfilter/nft_set_*.c find it. */
#include <linux/netfilter/nf_tables.h>
#include <string.h>

#include "rules/firewall/internal.h"

#define SET_CATCHALL	2	/* NFT_SET_ELEM_CATCHALL: newer than some headers */

struct nftnl_set *
lookup_set(const struct walk *walk, const char *name)
{
	struct nftnl_set_list_iter *sets =
	    nftnl_set_list_iter_create(walk->firewall->dump.sets);
	struct nftnl_set *set = NULL;

	while (sets != NULL && name != NULL &&
	    (set = nftnl_set_list_iter_next(sets)) != NULL)
		if (nftnl_set_get_u32(set, NFTNL_SET_FAMILY) == walk->family &&
		    strcmp(nftnl_set_get_str(set, NFTNL_SET_TABLE),
		    walk->table) == 0 &&
		    strcmp(nftnl_set_get_str(set, NFTNL_SET_NAME), name) == 0)
			break;
	if (sets != NULL)
		nftnl_set_list_iter_destroy(sets);
	return set;
}

/* Of a concatenation, each field of 32 bits by itself (nft_set_pipapo.c). */
static bool
is_between(const uint8_t *key, const uint8_t *from, const uint8_t *to,
    size_t length)
{
	for (size_t i = 0; i < length; i += NFT_REG32_SIZE) {
		const size_t part = length - i < NFT_REG32_SIZE ? length - i :
		    NFT_REG32_SIZE;

		if (memcmp(key + i, from + i, part) < 0 ||
		    memcmp(key + i, to + i, part) > 0)
			return false;
	}
	return true;
}

/* What a search through a set's elements has found so far. */
struct search {
	const uint8_t *key;
	size_t length;
	bool intervals;
	struct nftnl_set_elem *found, *catchall, *below;
	const uint8_t *below_key;
};

/*
 * An interval is its first value, and the value behind its last as an element
 * that is marked as end: what the greatest element that is not above the key is
 * decides.
 */
static void
look_at(struct search *s, struct nftnl_set_elem *elem)
{
	const uint32_t flags = nftnl_set_elem_is_set(elem,
	    NFTNL_SET_ELEM_FLAGS) ?
	    nftnl_set_elem_get_u32(elem, NFTNL_SET_ELEM_FLAGS) : 0;
	uint32_t length = 0, end_length = 0;
	const uint8_t *from = nftnl_set_elem_get(elem, NFTNL_SET_ELEM_KEY,
	    &length);
	const uint8_t *to = nftnl_set_elem_get(elem, NFTNL_SET_ELEM_KEY_END,
	    &end_length);

	if ((flags & SET_CATCHALL) != 0) {
		s->catchall = elem;
		return;
	}
	if (from == NULL || length != s->length)
		return;
	if (to != NULL && end_length == length) {
		if (is_between(s->key, from, to, length))
			s->found = elem;
	} else if (!s->intervals) {
		if (memcmp(s->key, from, length) == 0)
			s->found = elem;
	} else if (memcmp(from, s->key, length) <= 0 && (s->below == NULL ||
	    memcmp(from, s->below_key, length) > 0 ||
	    (memcmp(from, s->below_key, length) == 0 &&
	    (flags & NFT_SET_ELEM_INTERVAL_END) == 0))) {
		s->below = elem;
		s->below_key = from;
	}
}

struct nftnl_set_elem *
lookup_element(struct nftnl_set *set, const uint8_t *key, size_t length)
{
	struct nftnl_set_elems_iter *elements =
	    nftnl_set_elems_iter_create(set);
	struct search s = { .key = key, .length = length,
	    .intervals = (nftnl_set_get_u32(set, NFTNL_SET_FLAGS) &
	    NFT_SET_INTERVAL) != 0 };
	struct nftnl_set_elem *elem;

	while (elements != NULL &&
	    (elem = nftnl_set_elems_iter_next(elements)) != NULL)
		look_at(&s, elem);
	if (elements != NULL)
		nftnl_set_elems_iter_destroy(elements);
	if (s.found == NULL && s.below != NULL && (!nftnl_set_elem_is_set(
	    s.below, NFTNL_SET_ELEM_FLAGS) || (nftnl_set_elem_get_u32(s.below,
	    NFTNL_SET_ELEM_FLAGS) & NFT_SET_ELEM_INTERVAL_END) == 0))
		s.found = s.below;
	return s.found != NULL ? s.found : s.catchall;
}

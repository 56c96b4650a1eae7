/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "resolver/text/host.h"
#include "rules/address_set.h"

size_t
address_size(int family)
{
	return family == AF_INET ? 4 : 16;
}

/*
 * By address, and the shorter prefix first, so that what holds stands before
 * what is held.
 */
static int
prefix_compare(const void *left, const void *right)
{
	const struct config_prefix *a = left, *b = right;
	int order = memcmp(a->address, b->address, address_size(a->family));

	return order != 0 ? order : (int)a->length - (int)b->length;
}

static bool
prefix_holds(const struct config_prefix *outer, const struct config_prefix *inner)
{
	return outer->length <= inner->length &&
	    host_same_bits(outer->address, inner->address, outer->length);
}

int
address_set_fill(struct address_set *set, const struct config_prefix *prefixes,
    size_t count)
{
	size_t taken = 0, kept = 0;

	set->prefixes = NULL;
	set->count = 0;
	if (count == 0)
		return 0;
	set->prefixes = calloc(count, sizeof(*set->prefixes));
	if (set->prefixes == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (prefixes[i].family == set->family)
			set->prefixes[taken++] = prefixes[i];
	qsort(set->prefixes, taken, sizeof(*set->prefixes), prefix_compare);
	for (size_t i = 0; i < taken; i++)
		if (kept == 0 || !prefix_holds(&set->prefixes[kept - 1],
		    &set->prefixes[i]))
			set->prefixes[kept++] = set->prefixes[i];
	set->count = kept;
	return 0;
}

void
address_set_free(struct address_set *set)
{
	free(set->prefixes);
	set->prefixes = NULL;
	set->count = 0;
}

/* The address after the prefix's last one.  False when there is none. */
static bool
address_after(const struct config_prefix *prefix, uint8_t key[static 16])
{
	size_t size = address_size(prefix->family);

	memcpy(key, prefix->address, size);
	if (prefix->length == 0)
		return false;
	/* Add one at the prefix's last bit and carry to the left. */
	size_t octet = (prefix->length - 1U) / 8;
	unsigned int carry = 1U << (7 - (prefix->length - 1U) % 8);
	for (;;) {
		unsigned int sum = key[octet] + carry;

		key[octet] = (uint8_t)sum;
		if (sum <= 0xff)
			return true;
		if (octet-- == 0)
			return false;
		carry = 1;
	}
}

size_t
address_elements(const struct config_prefix *prefix,
    struct address_element elements[static 2])
{
	memset(elements, 0, 2 * sizeof(*elements));
	memcpy(elements[0].key, prefix->address, address_size(prefix->family));
	elements[1].end = true;
	return address_after(prefix, elements[1].key) ? 2 : 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of addresses as the kernel keeps it: intervals that neither overlap
 * nor contain one another.
 */
#ifndef NFDNS_RULES_ADDRESS_SET_H
#define NFDNS_RULES_ADDRESS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/config/config.h"

/* Owns its prefixes, which are sorted, none inside another. */
struct address_set {
	const char *name;		/* in the kernel; static text */
	int family;			/* AF_INET or AF_INET6 */
	struct config_prefix *prefixes;
	size_t count;
};

/* Octets of an address of that family. */
size_t address_size(int family);

/*
 * Takes those of the prefixes that are of the set's family.  A prefix inside
 * another is left out: the kernel refuses intervals that overlap.
 * 0 or -ENOMEM.
 */
int address_set_fill(struct address_set *set,
    const struct config_prefix *prefixes, size_t count)
    __attribute__((warn_unused_result));
void address_set_free(struct address_set *set);

/* An interval runs from an element up to, and without, the next "end". */
struct address_element {
	uint8_t key[16];
	bool end;
};

/*
 * The elements of one prefix, in order: its first address and the one after
 * its last.  An interval that goes on to the last address of all has no end.
 * Returns their number, 1 or 2.
 */
size_t address_elements(const struct config_prefix *prefix,
    struct address_element elements[static 2]);

#endif

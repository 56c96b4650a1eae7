/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists the automatically allocated addresses and their names. */
#ifndef NFDNS_RESOLVER_LISTING_TABLE_ADDRESSES_H
#define NFDNS_RESOLVER_LISTING_TABLE_ADDRESSES_H

#include <stdbool.h>
#include <stdio.h>

#include "resolver/image/table.h"

/*
 * Prints every address in 240.240.0.0/16 and 2001:2::/48 that a name has,
 * sorted by address: lines "ADDRESS NAME FILE:LINE", or one JSON object a line.
 * 0 or a negative errno.
 */
int table_addresses(const struct table *table, bool json, FILE *out)
    __attribute__((warn_unused_result));

#endif

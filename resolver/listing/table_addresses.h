/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which names have the addresses that were made up for names without one. */
#ifndef NFDNS_RESOLVER_LISTING_TABLE_ADDRESSES_H
#define NFDNS_RESOLVER_LISTING_TABLE_ADDRESSES_H

#include <stdbool.h>
#include <stdio.h>

#include "resolver/image/table.h"

/*
 * Every address of a name that lies in 240.240.0.0/16 or 2001:2::/48, in the
 * order of addresses: "ADDRESS NAME FILE:LINE", or a JSON object a line.
 * Returns 0 or a negative errno.
 */
int table_addresses(const struct table *table, bool json, FILE *out)
    __attribute__((warn_unused_result));

#endif

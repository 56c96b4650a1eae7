/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands inside the data of records, as far as this program looks. */
#ifndef NFDNS_RESOLVER_DNS_RDATA_H
#define NFDNS_RESOLVER_DNS_RDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length that every record of a type has, or 0 if they differ. */
uint16_t rdata_fixed_length(uint16_t type);

/* Octets before the one name that data of that type ends with; -1: no name. */
int rdata_name_offset(uint16_t type);

/*
 * Whether octets are well-formed data of that type, names uncompressed.  Types
 * that are not looked into are opaque (RFC 3597) and always are.
 */
bool rdata_valid(uint16_t type, const uint8_t *octets, size_t length);

/*
 * Presentation format, in memory to be freed; RFC 3597 section 5 for types
 * that are opaque here.  octets must be valid.  NULL without memory.
 */
char *rdata_to_text(uint16_t type, const uint8_t *octets, size_t length);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands inside the data of records, as far as this program looks. */
#ifndef NFDNS_RESOLVER_DNS_RDATA_H
#define NFDNS_RESOLVER_DNS_RDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The fields of a type's data, one character each:
 *   A, 6	an IPv4 or IPv6 address
 *   1, 2, 4	a number of so many octets
 *   N		a name, compressed perhaps in a message
 *   T		one or more character strings, up to the end
 *   R		any octets, up to the end
 */
struct rdata_layout {
	uint16_t type;
	bool text;		/* rdata_valid(), rdata_to_text() know it */
	bool plain;		/* names in it may not be compressed */
	const char *fields;
};

/*
 * "R", opaque data, for all types but those of RFC 1035 section 3.3, of RFC 2782
 * and those whose names RFC 3597 section 4 tells readers to decompress.
 */
const struct rdata_layout *rdata_layout(uint16_t type);

/* Octets of a field A, 6, 1, 2 or 4; 0 for the others. */
size_t rdata_field_octets(char field);

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

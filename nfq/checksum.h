/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Internet checksum, RFC 1071. */
#ifndef NFDNS_NFQ_CHECKSUM_H
#define NFDNS_NFQ_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/*
 * Adds octets to a running sum (start with 0).  Every piece but the last has
 * an even length; an odd last one counts as if a zero octet followed.
 */
uint64_t checksum_add(uint64_t sum, const void *octets, size_t length);

/* Adds one 16-bit word, given in host order. */
uint64_t checksum_add_u16(uint64_t sum, uint16_t word);

/*
 * The complement of the folded sum, to be stored as it is (memcpy) in the
 * packet.  0 over octets that hold a right checksum already.
 */
uint16_t checksum_finish(uint64_t sum);

#endif

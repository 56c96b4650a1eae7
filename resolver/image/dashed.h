/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses as one label: 10-1-2-3, fd00--1.  Kubernetes names pods this way,
 * and endpoints without a hostname.
 */
#ifndef NFDNS_RESOLVER_IMAGE_DASHED_H
#define NFDNS_RESOLVER_IMAGE_DASHED_H

#include <netinet/in.h>
#include <stdint.h>

/* Writes an address of 4 or 16 octets, NUL-terminated. */
void dashed_from_address(char text[static INET6_ADDRSTRLEN],
    const uint8_t *octets, uint8_t length);

/*
 * Reads the label, in wire format, at "label".  Returns 4 or 16 and that many
 * octets, or 0 if it is no address.
 */
uint8_t dashed_to_address(const uint8_t *label, uint8_t octets[static 16]);

#endif

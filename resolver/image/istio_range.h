/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two ranges that Istio keeps for addresses that it allocates to
 * ServiceEntries: 240.240.0.0/16 of class E, and 2001:2::/48 of benchmarking
 * (RFC 5180).
 */
#ifndef NFDNS_RESOLVER_IMAGE_ISTIO_RANGE_H
#define NFDNS_RESOLVER_IMAGE_ISTIO_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ISTIO_RANGE_V4_OCTETS	2
#define ISTIO_RANGE_V6_OCTETS	6

/* The octets that all addresses of a range begin with. */
extern const uint8_t istio_range_v4[ISTIO_RANGE_V4_OCTETS];
extern const uint8_t istio_range_v6[ISTIO_RANGE_V6_OCTETS];

/* Whether an address of 4 or 16 octets lies in one of the ranges. */
bool istio_range_has(const uint8_t *octets, size_t length);

#endif

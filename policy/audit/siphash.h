/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SipHash-2-4 (Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012): a
 * keyed hash whose values cannot be told from random ones without the key.
 */
#ifndef NFDNS_POLICY_AUDIT_SIPHASH_H
#define NFDNS_POLICY_AUDIT_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define SIPHASH_KEY 16

uint64_t siphash(const uint8_t key[static SIPHASH_KEY], const void *octets,
    size_t length);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a fuzz target defines; libFuzzer's main or replay.c calls it. */
#ifndef NFDNS_TESTS_FUZZ_H
#define NFDNS_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* What must be so. */
static inline void
check(bool right)
{
	if (!right)
		abort();
}

/*
 * What libraries lose, and we cannot free: libconfig up to 1.7 the string that a syntax
 * error follows, ldns up to 1.8 parts of records that it cannot read, libnftnl texts of
 * objects that are given two.
 */
const char *__lsan_default_suppressions(void);

__attribute__((weak)) const char *
__lsan_default_suppressions(void)
{
	return "leak:libconfig\nleak:libldns\nleak:libnftnl";
}

/* Any octets; returns 0.  What must never happen ends in abort(). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif

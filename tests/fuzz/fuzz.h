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

/* Any octets; returns 0.  What must never happen ends in abort(). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that runs out with the n-th call: for tests that are linked with --wrap
 * (see the Makefile).  It concerns nfdns' own calls; libraries have memory.
 */
#ifndef NFDNS_TESTS_NO_MEMORY_H
#define NFDNS_TESTS_NO_MEMORY_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Calls that succeed before all fail; negative: none fails. */
static long no_memory_in = -1;
static bool no_memory_failed;		/* one has */

static inline void
no_memory_after(long calls)
{
	no_memory_in = calls;
	no_memory_failed = false;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);

static bool
no_memory_now(void)
{
	if (no_memory_in != 0) {
		no_memory_in -= no_memory_in > 0;
		return false;
	}
	no_memory_failed = true;
	errno = ENOMEM;
	return true;
}

void *
__wrap_malloc(size_t size)
{
	return no_memory_now() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
	return no_memory_now() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *old, size_t size)
{
	return no_memory_now() ? NULL : __real_realloc(old, size);
}

void *
__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return no_memory_now() ? NULL : __real_reallocarray(old, count, size);
}

#endif

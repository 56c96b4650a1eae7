/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/image/builder_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
arena_take(struct arena *arena, size_t n, uint32_t *handle)
{
	n = (n + 3) & ~(size_t)3;
	if (arena->used + n > UINT32_MAX)
		return -E2BIG;
	if (arena->used + n > arena->size) {
		/* By half, not double: untouched pages count in RLIMIT_AS. */
		size_t size = arena->used + n + arena->size / 2 + 65536;
		uint8_t *octets = realloc(arena->octets, size);

		if (octets == NULL)
			return -ENOMEM;
		arena->octets = octets;
		arena->size = size;
	}
	*handle = (uint32_t)arena->used;
	memset(arena->octets + arena->used, 0, n);
	arena->used += n;
	return 0;
}

void
arena_free(struct arena *arena)
{
	free(arena->octets);
	*arena = (struct arena)ARENA_INIT;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that may be absent, which is NULL. */
#ifndef NFDNS_RESOLVER_TEXT_GIVEN_H
#define NFDNS_RESOLVER_TEXT_GIVEN_H

#include <stdbool.h>
#include <string.h>

/* Whether it is there and not empty. */
static inline bool
text_is_given(const char *text)
{
	return text != NULL && *text != '\0';
}

/* Whether both are the same, or both absent. */
static inline bool
text_is_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A piece of a longer text, borrowed and not NUL-terminated. */
#ifndef NFDNS_RESOLVER_TEXT_SPAN_H
#define NFDNS_RESOLVER_TEXT_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* text is not NULL, but of a span that stands for no text at all. */
struct span {
	const char *text;
	size_t length;
};

/* For printf's "%.*s": most octets of it, at most "limit". */
#define SPAN_SHOWN(span, limit) \
	(int)((span).length < (limit) ? (span).length : (limit)), (span).text

static inline struct span
span_of(const char *text)
{
	return (struct span){ text, text != NULL ? strlen(text) : 0 };
}

static inline bool
span_equal(struct span a, struct span b)
{
	return a.length == b.length &&
	    (a.length == 0 || memcmp(a.text, b.text, a.length) == 0);
}

/*
 * Whether it is well-formed UTF-8 (RFC 3629): no overlong forms, surrogates or
 * values above U+10FFFF.
 */
bool span_is_utf8(struct span span);

#endif

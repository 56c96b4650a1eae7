/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table in parts (resolver/feed/feed.h) as one text. */
#ifndef NFDNS_TESTS_PARTS_H
#define NFDNS_TESTS_PARTS_H

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* All of them, and a NUL; the caller frees it. */
static inline char *
parts_join(const struct iovec *parts, size_t count, size_t *length)
{
	char *text, *to;

	*length = 0;
	for (size_t i = 0; i < count; i++)
		*length += parts[i].iov_len;
	text = to = malloc(*length + 1);
	if (text == NULL)
		abort();
	for (size_t i = 0; i < count; i++) {
		if (parts[i].iov_len > 0)
			memcpy(to, parts[i].iov_base, parts[i].iov_len);
		to += parts[i].iov_len;
	}
	*to = '\0';
	return text;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The objects in a text of {"items": [...]}, by hashes of what identifies them
 * and of their text: enough to count what two texts differ in.
 */
#ifndef NFDNS_NFQ_FEED_OBJECT_NAMES_H
#define NFDNS_NFQ_FEED_OBJECT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/sources/name_table.h"

struct object_name {
	uint64_t key, text;		/* XXH3 */
};

struct object_names {
	struct object_name *names;	/* sorted by key, each key once */
	size_t count;
};

/* 0; -EBADMSG and *why a static text; -ENOMEM. */
int object_names_open(struct object_names *names, const char *text,
    size_t length, const char **why) __attribute__((warn_unused_result));
void object_names_close(struct object_names *names);

void object_names_compare(const struct object_names *old,
    const struct object_names *new, struct name_table_delta *delta);

#endif

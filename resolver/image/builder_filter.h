/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds the filters of an image (image_filter.h). */
#ifndef NFDNS_RESOLVER_IMAGE_BUILDER_FILTER_H
#define NFDNS_RESOLVER_IMAGE_BUILDER_FILTER_H

#include <stdint.h>

#include "resolver/image/builder_state.h"

struct build_filter {
	uint64_t *words;
	unsigned int bits;		/* 2^bits words */
	uint32_t mask;			/* their number less one */
};

/* Start from zeros; owns the words. */
struct build_filters {
	struct build_filter tails, heads;
};

/* Builds them from all nodes; call it after the last was added.  0, -ENOMEM. */
int build_filters_make(struct build_filters *filters, const struct builder *b)
    __attribute__((warn_unused_result));
void build_filters_free(struct build_filters *filters);

#endif

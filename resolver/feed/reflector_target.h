/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The path and query of a request: parameters as ListOptions has them
 * (k8s.io/apimachinery pkg/apis/meta/v1/types.go), in the combinations that an
 * API server takes (pkg/apis/meta/internalversion/validation).
 */
#ifndef NFDNS_RESOLVER_FEED_REFLECTOR_TARGET_H
#define NFDNS_RESOLVER_FEED_REFLECTOR_TARGET_H

#include "resolver/feed/reflector.h"

void reflector_target(const struct reflector *r, uint64_t random,
    char target[static REFLECTOR_TARGET_SIZE]);

#endif

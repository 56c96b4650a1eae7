/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of a policy as people write them, in the configuration and in files. */
#ifndef NFDNS_POLICY_CONFIG_POLICY_PATTERN_H
#define NFDNS_POLICY_CONFIG_POLICY_PATTERN_H

#include <stddef.h>

#include "policy/config/policy.h"

/*
 * Reads "a.example", "*.a.example", ".a.example", or "*": all names.  A star
 * elsewhere is written \*, since nobody means it.
 * Returns 0 and name, lower-cased, of any kind but POLICY_SET; -EINVAL; or
 * -ENAMETOOLONG for a label above 63 or a name above 255 octets.
 */
int policy_pattern_read(struct policy_name *name, const char *text,
    size_t length) __attribute__((warn_unused_result));

#endif

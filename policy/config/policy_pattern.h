/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of a policy as people write them, in the configuration and in files. */
#ifndef NFDNS_POLICY_CONFIG_POLICY_PATTERN_H
#define NFDNS_POLICY_CONFIG_POLICY_PATTERN_H

#include <stddef.h>

#include "policy/config/policy.h"

/*
 * Reads "a.example", "*.a.example", ".a.example", or "*": all names.  Octets
 * that names of hosts do not have, a star elsewhere among them, are written as
 * escapes (\047, \*); labels in UTF-8 become A-labels.
 * Returns 0 and name, lower-cased, of any kind but POLICY_SET; -EINVAL;
 * -ENAMETOOLONG for a label above 63 or a name above 255 octets; -EILSEQ for one
 * that IDNA does not allow; or -ENOMEM.
 */
int policy_pattern_read(struct policy_name *name, const char *text,
    size_t length) __attribute__((warn_unused_result));

/* What is wrong, behind the text and a blank. */
const char *policy_pattern_why(int error);

#endif

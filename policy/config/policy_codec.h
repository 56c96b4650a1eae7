/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A policy as the octets of a file, for another process of the same program: the
 * process that compiles reads no configuration.
 */
#ifndef NFDNS_POLICY_CONFIG_POLICY_CODEC_H
#define NFDNS_POLICY_CONFIG_POLICY_CODEC_H

#include <stdio.h>

#include "policy/config/policy.h"

/* 0, or a negative errno of writing. */
int policy_codec_write(const struct policy *policy, FILE *file)
    __attribute__((warn_unused_result));

/*
 * Reads what policy_codec_write() wrote, from the file's position on; the
 * caller frees *policy with policy_clear().  Returns 0, -EPROTO if the file
 * ends early, or -ENOMEM.  After an error, *policy is empty.
 */
int policy_codec_read(struct policy *policy, FILE *file)
    __attribute__((warn_unused_result));

#endif

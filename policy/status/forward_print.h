/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forwarding's part of nfdns status. */
#ifndef NFDNS_POLICY_STATUS_FORWARD_PRINT_H
#define NFDNS_POLICY_STATUS_FORWARD_PRINT_H

#include <stdint.h>
#include <stdio.h>

#include "policy/status/forward_status.h"

/* Seconds since then; 0 if it never happened or the clock was set back. */
static inline uint64_t
status_age(uint64_t then, uint64_t now)
{
	return then == 0 || then > now ? 0 : now - then;
}

/*
 * One line for each upstream, domain and probe, "forward.upstream.NAME  VALUE",
 * the value at that column.  "shown" is of forward_status_read(); "now" as its
 * times.
 */
void forward_print(const struct status_forwarding *shown, int column,
    uint64_t now, FILE *out);

/*
 * Adds the arrays "upstreams", "domains" and "probes" to an object of jansson.
 * 0 or -ENOMEM.
 */
struct json_t;
int forward_print_json(const struct status_forwarding *shown, uint64_t now,
    struct json_t *object) __attribute__((warn_unused_result));

#endif

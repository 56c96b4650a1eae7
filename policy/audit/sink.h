/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one entry of "audit" asks for: a format, and which records it takes.  A
 * flat value, since it goes from the supervisor to the worker as octets.
 */
#ifndef NFDNS_POLICY_AUDIT_SINK_H
#define NFDNS_POLICY_AUDIT_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/decide.h"

struct audit_record;

#define AUDIT_MAX_FILES		16
#define AUDIT_RULE_MAX		63	/* octets of a rule's name that are kept */

/* The verdicts that a sink takes unless it says otherwise: all but passes. */
#define AUDIT_VERDICT(verdict)	(1U << (verdict))
#define AUDIT_VERDICTS_ALL	(AUDIT_VERDICT(VERDICTS) - 1)
#define AUDIT_VERDICTS_USUAL \
	(AUDIT_VERDICTS_ALL & ~AUDIT_VERDICT(VERDICT_PASS))

/* Response codes from 0 to 31, RFC 6895 section 2.3. */
#define AUDIT_RCODES	32
#define AUDIT_RCODE(rcode)	(1U << (rcode))

struct audit_sink {
	uint64_t id;			/* the same after a reload or a reopening */
	uint32_t format;		/* enum audit_format_number */
	uint32_t verdicts;		/* AUDIT_VERDICT() of each */
	uint32_t max_size;		/* MiB of its file; 0: any size */
	uint32_t is_private;		/* names no user, no client */
	uint32_t rcodes;		/* AUDIT_RCODE() of each; 0: any, or no answer */
	uint32_t zero;			/* no padding */
};

/* Whether every number is within its bounds: the octets came from elsewhere. */
bool audit_sink_is_sound(const struct audit_sink *sink);

/* Whether the sink takes the record. */
bool audit_sink_takes(const struct audit_sink *sink,
    const struct audit_record *record);

#endif

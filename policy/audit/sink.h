/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one entry of "audit" asks for: a format, and which records it takes.  A
 * flat value, since it goes from the supervisor to the worker as octets.  The
 * verdict is looked at on the packet path (audit_wants()), all else by the
 * writer.
 */
#ifndef NFDNS_POLICY_AUDIT_SINK_H
#define NFDNS_POLICY_AUDIT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/audit/seal.h"
#include "policy/decide.h"
#include "resolver/dns/name.h"

struct audit_record;

#define AUDIT_MAX_FILES		16
#define AUDIT_FILTER_ITEMS	32	/* of each list */
#define AUDIT_RULE_MAX		63	/* octets of a rule's name that are kept */

/* The verdicts that a sink takes unless it says otherwise: all but passes. */
#define AUDIT_VERDICT(verdict)	(1U << (verdict))
#define AUDIT_VERDICTS_ALL	(AUDIT_VERDICT(VERDICTS) - 1)
#define AUDIT_VERDICTS_USUAL \
	(AUDIT_VERDICTS_ALL & ~AUDIT_VERDICT(VERDICT_PASS))

/* One of "names". */
struct audit_name {
	struct dns_name name;		/* lower case */
	bool below;			/* "*.NAME": all names below it, not it */
};

/* One of "rules". */
struct audit_rule {
	uint8_t length;
	char text[AUDIT_RULE_MAX];
};

/* An empty list takes everything. */
struct audit_sink {
	uint64_t id;			/* the same after a reload or a reopening */
	uint32_t format;		/* enum audit_format_number */
	uint32_t verdicts;		/* AUDIT_VERDICT() of each */
	uint32_t sample;		/* one of so many; 0 and 1: all */
	uint32_t rate;			/* records a second; 0: any number */
	uint32_t strict;		/* refuses what cannot be recorded */
	uint32_t hide_uid, client_prefix, hash_names;	/* privacy.h */
	struct audit_key key;		/* the operator's */
	uint32_t names, users, rules;	/* lengths of the lists */
	uint32_t user[AUDIT_FILTER_ITEMS];
	struct audit_name name[AUDIT_FILTER_ITEMS];
	struct audit_rule rule[AUDIT_FILTER_ITEMS];
};

/* Whether every number is within its bounds: the octets came from elsewhere. */
bool audit_sink_is_sound(const struct audit_sink *sink);

/* What a sink remembers of the records that it took; starts with zeros. */
struct audit_pace {
	uint64_t second;		/* of the records counted, since 1970 */
	uint64_t records;
};

/*
 * The question of a record, read once for all sinks: "has_name" false if it has
 * no name that can be read.
 */
struct audit_asked {
	bool read, has_name;
	struct dns_name name;		/* lower case */
};

/*
 * Whether the sink takes the record; if so, it is counted for "rate".  secret:
 * 16 octets that no client knows, so that nobody can choose names that are
 * never sampled.  asked starts with zeros for each record.
 */
bool audit_sink_takes(const struct audit_sink *sink, struct audit_pace *pace,
    const struct audit_record *record, struct audit_asked *asked,
    const uint8_t secret[static SIPHASH_KEY]);

#endif

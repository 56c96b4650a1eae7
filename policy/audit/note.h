/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes: what a file says of itself, beside its records. */
#ifndef NFDNS_POLICY_AUDIT_NOTE_H
#define NFDNS_POLICY_AUDIT_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/audit/audit.h"
#include "policy/audit/json_out.h"
#include "resolver/dns/name.h"

enum audit_note_kind {
	AUDIT_BEGIN,			/* a file was opened: its first octets */
	AUDIT_LOST,			/* records are missing here */
	AUDIT_END,			/* the last before it is closed */
	AUDIT_CLOSE,			/* what the format has behind that */
	AUDIT_UNREAD,			/* questions went by that nobody read */
};

/* What a file says of itself. */
struct audit_note {
	enum audit_note_kind kind;
	bool appended;			/* BEGIN: the file is not empty */
	uint64_t time_ns;		/* since 1970 */
	uint64_t run;			/* of the worker: when it started */
	/* BEGIN, END: the number that the next record has. */
	uint64_t next;
	/* LOST: so many records, the first and the last of these numbers. */
	uint64_t lost_now, from, to;
	uint64_t unread;		/* UNREAD: so many, since the last one */
	/* Since the file was opened, also for the interface statistics. */
	uint64_t lost;
	uint64_t records;		/* written */
};

/* Octets that audit_note_text() puts at most. */
#define AUDIT_NOTE_TEXT 160

/* "event=begin run=... next=1", likewise. */
void audit_note_text(struct json_out *out, const struct audit_note *note);

/* Octets that audit_record_text() puts at most. */
#define AUDIT_RECORD_TEXT (464 + 2 * 4 * AUDIT_RULE_MAX + 4 * NAME_MAX_OCTETS)

/* "decision=answer ... number=1", for formats that have no keys. */
void audit_record_text(struct json_out *out, const struct audit_record *record);

/*
 * A name without its final dot, in characters that need no quotes: all that are no
 * letters, digits, "-", "_" or "*" are \DDD.  The root is ".".
 */
void audit_name_text(struct json_out *out, const uint8_t *octets,
    size_t length);

/* "begin", "lost", "unread", "end". */
const char *audit_note_kind_text(enum audit_note_kind kind);

#endif

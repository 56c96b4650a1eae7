/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record as one line that a person reads: when, who, what was asked, what was
 * decided and what was answered.  It is for commands; no file of the daemon has
 * this format.
 */
#ifndef NFDNS_POLICY_AUDIT_TEXT_H
#define NFDNS_POLICY_AUDIT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/audit/audit.h"

/* Octets of a line at most; the answers that do not fit are counted. */
#define AUDIT_TEXT_MAX 4096

/*
 * Writes the line, without a line end and NUL-terminated, for example
 *
 *   2026-11-22 13:40:01.123 answer 10.0.0.5 uid 33 A shop.example. 10.1.2.3
 *   (record)
 *
 * in one line; the time is local (TZ).  The octets of question and answer may
 * be anything; what is not printable ASCII is written as RFC 1035 section 5.1
 * does.  colour: the verdict has an ECMA-48 colour.  Returns the length.
 */
size_t audit_text(const struct audit_record *record, bool colour,
    char line[static AUDIT_TEXT_MAX]);

#endif

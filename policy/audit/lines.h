/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Audit records as datagrams for the machine's own logs: the format "syslog", a
 * line as programs of this machine write it (RFC 3164 section 4.3: without a time,
 * the daemon adds it), and "journal", the fields of systemd's native protocol
 * (systemd.journal-fields(7)).  Neither has seals: the
 * file is that of another program.
 */
#ifndef NFDNS_POLICY_AUDIT_LINES_H
#define NFDNS_POLICY_AUDIT_LINES_H

#include "policy/audit/format.h"

/* Where the two programs listen. */
#define AUDIT_SYSLOG_PATH	"/dev/log"
#define AUDIT_JOURNAL_PATH	"/run/systemd/journal/socket"

extern const struct audit_format audit_syslog_format, audit_journal_format;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chains of iptables-legacy(8), which the kernel keeps apart from those of
 * nf_tables and shows by getsockopt(2) only: as text of iptables-legacy-save(8).
 */
#ifndef NFDNS_NFQ_CLI_DOCTOR_LEGACY_H
#define NFDNS_NFQ_CLI_DOCTOR_LEGACY_H

#include <stdbool.h>

#include "nfq/cli/doctor/findings.h"
#include "policy/config/config.h"

/*
 * Reads the tables that /proc/net/ip_tables_names and ip6_tables_names name.
 * "unanswered": the canary question got no answer, so chains that drop by
 * default are a likely cause.
 */
void legacy_check(struct findings *findings, const struct config *config,
    bool unanswered);

/* One table's text; for tests.  program: "iptables-legacy". */
void legacy_check_text(struct findings *findings, const struct config *config,
    bool unanswered, const char *program, char *text);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that a bug report needs, in one archive, without secrets. */
#ifndef NFDNS_NFQ_CLI_DOCTOR_REPORT_H
#define NFDNS_NFQ_CLI_DOCTOR_REPORT_H

#include "nfq/cli/doctor/findings.h"
#include "policy/config/config.h"
#include "policy/status/status.h"

#define REPORT_WHY	200

/*
 * Writes a gzipped tar archive to file, which must not exist yet: the findings,
 * status, configuration, rules, versions, the files of this machine that say
 * how names are resolved, and the last lines of the journal.  No key, token,
 * kubeconfig, table or packet log is in it.  config and page may be NULL.
 * 0, or a negative errno and "why".
 */
int report_write(const char *file, const struct findings *findings,
    const struct config *config, const struct status_page *page,
    char why[static REPORT_WHY]) __attribute__((warn_unused_result));

#endif

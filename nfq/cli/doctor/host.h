/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How programs of this machine resolve names, as its files say: whether their
 * questions reach port 53 at all, and what stands before or behind.
 */
#ifndef NFDNS_NFQ_CLI_DOCTOR_HOST_H
#define NFDNS_NFQ_CLI_DOCTOR_HOST_H

#include <stdbool.h>

#include "nfq/cli/doctor/findings.h"
#include "resolver/image/table.h"

/*
 * All checks of the files below "root" ("" is the machine's own).  table may be
 * NULL: then /etc/hosts is not compared with it.
 */
void host_check(struct findings *findings, const char *root,
    const struct table *table);

/* The parts, for tests. */
void host_check_resolv_conf(struct findings *findings, const char *root);
void host_check_nsswitch(struct findings *findings, const char *root);
void host_check_resolved(struct findings *findings, const char *root);
void host_check_nscd(struct findings *findings, const char *root);
void host_check_hosts(struct findings *findings, const char *root,
    const struct table *table);
void host_check_sysctls(struct findings *findings, const char *root);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every program of this machine needs to resolve names, with or without nfdnsd. */
#ifndef NFDNS_NFQ_CLI_DOCTOR_MACHINE_H
#define NFDNS_NFQ_CLI_DOCTOR_MACHINE_H

#include <sys/types.h>

#include "nfq/cli/doctor/findings.h"
#include "policy/config/config.h"

/* The loopback interface, and resolv.conf(5). */
void machine_check(struct findings *findings);

/* Bridges of containers or guests whose questions nfdnsd does not see. */
void machine_check_containers(struct findings *findings, const struct config *config);

/* Whether nfdnsd is in this network namespace; "pid" 0: it does not run. */
void machine_check_namespace(struct findings *findings, pid_t pid);

#endif

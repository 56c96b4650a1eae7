/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The supervisor: the parent process of nfdnsd.  It owns the sockets of rules
 * and queues and the status page, starts and replaces the worker, reloads, and
 * monitors.
 *
 * This room parses no packet, no question and no table.  lifecycle.c has start
 * and stop in order.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_SUPERVISOR_H
#define NFDNS_NFQ_SUPERVISOR_SUPERVISOR_H

#include "policy/config/config.h"

/*
 * Runs the daemon until SIGTERM, SIGINT or SIGQUIT; returns the exit code.
 * Takes ownership of config.
 */
int supervisor_run(struct config *config);

#endif

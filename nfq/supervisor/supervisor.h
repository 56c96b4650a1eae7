/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The supervisor: owns the table's socket, the queues' sockets and the status
 * page, parses no packet.  Start, stop and reload stand in supervisor.c in
 * order and in reverse.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_SUPERVISOR_H
#define NFDNS_NFQ_SUPERVISOR_SUPERVISOR_H

#include "policy/config/config.h"

/*
 * Takes config over.  Sockets of the Internet are had from who listens at the
 * path "sockets" (nfq/sockets/server.h), or are our own if it is NULL.  Runs
 * until SIGTERM or SIGINT; returns the exit code.
 */
int supervisor_run(struct config *config, const char *sockets);

/*
 * SIGHUP that brings this value along (sigqueue(3)) is a reload that may also
 * lose names (mesh.shrink_limit).
 */
#define SUPERVISOR_FORCE 0x6e66

#endif

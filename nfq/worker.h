/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker process: no privilege but CAP_NET_ADMIN, one thread for each
 * queue, the audit writer, and the main thread, which takes orders from the
 * supervisor.
 */
#ifndef NFDNS_NFQ_WORKER_H
#define NFDNS_NFQ_WORKER_H

#include <stdint.h>

#include "policy/config.h"
#include "policy/status.h"

/* What the supervisor hands over at fork; all fds stay the supervisor's too. */
struct worker_handover {
	const struct config *config;
	const int *queues;		/* one bound socket for each thread */
	int image;			/* sealed memory file */
	uint64_t generation;
	int control;			/* our end of the SOCK_SEQPACKET pair */
	struct status_page *status;
};

/* Runs in the child until told to stop; returns the exit status. */
int worker_run(const struct worker_handover *handover);

#endif

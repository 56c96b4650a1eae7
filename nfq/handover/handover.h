/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the supervisor hands to a worker process, and what it returns at its end. */
#ifndef NFDNS_NFQ_HANDOVER_HANDOVER_H
#define NFDNS_NFQ_HANDOVER_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/handover/batch_window.h"
#include "nfq/handover/generation_files.h"
#include "nfq/handover/senders.h"
#include "nfq/handover/suspects.h"
#include "policy/config/config.h"
#include "policy/status/status.h"

/* What the supervisor hands over at fork; all fds stay the supervisor's too. */
struct worker_handover {
	const struct config *config;	/* for options that need a restart */
	const int *queues;		/* one bound socket for each thread */
	const int *listeners;		/* STREAM_LISTENERS of them, for TCP */
	bool sockets; /* sockets are opened by another process */
	const struct generation_files *generation;
	int control;			/* our end of the SOCK_SEQPACKET pair */
	pid_t supervisor;
	struct status_page *status;
	struct batch_window *window;	/* the worker writes it */
	struct senders *senders;	/* of TCP; NULL: they are not known */
	const struct suspects *suspects;	/* NULL: there are none */
};

/* Exit statuses that the supervisor has more to say about. */
enum worker_exit {
	WORKER_DONE = 0,
	WORKER_FAILED = 1,		/* it has logged why */
	WORKER_NO_PRIVILEGE = 10,	/* the kernel refuses our verdicts */
	WORKER_BAD_IMAGE = 11,
};

#endif

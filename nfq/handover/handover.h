/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the supervisor hands to a worker process. */
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

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the supervisor hands to a worker process. */
#ifndef NFDNS_NFQ_HANDOVER_HANDOVER_H
#define NFDNS_NFQ_HANDOVER_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/handover/generation_files.h"
#include "nfq/handover/senders.h"
#include "policy/status/status.h"

/*
 * What the worker knows of the configuration: values that it has from its
 * start to its end.  Other options come with the
 * generation (policy/config/settings.h), so that no thread can read an old one.
 */
struct worker_options {
	uid_t uid;			/* that the worker runs as */
	gid_t gid;
	uint16_t queue_number;		/* of the first queue */
	unsigned int queues;		/* with consecutive numbers */
	uint32_t maxlen;		/* packets that each can hold */
	bool tcp;			/* TCP is captured, and there are listeners */
	uint32_t mark_mask;		/* capture.mark_mask, and in it: */
	uint32_t mark_passed;		/* of questions, */
	uint32_t mark_unanswerable;	/* and ruleset_unanswerable_mark() */
	uint32_t mark_answered;		/* of packets that are answers */
	uint32_t mark_stream;		/* of packets to the TCP thread */
	uint32_t mark_relay;		/* of connections that the worker opens */
};

/*
 * What the supervisor hands over at fork.  The worker borrows it for its whole
 * life; all descriptors stay the supervisor's, too.
 */
struct worker_handover {
	struct worker_options options;
	const int *queues;		/* bound sockets of all queues */
	const int *listeners;		/* for TCP: STREAM_LISTENERS of them */
	const struct generation_files *generation;
	int control;			/* the worker's end: control.h */
	pid_t supervisor;
	struct status_page *status;	/* slots: queue threads; the last two: TCP, main */
	struct senders *senders;	/* of TCP connections; NULL: not known */
};

#endif

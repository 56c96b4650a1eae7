/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packet path: one thread for each queue receives a batch of packets,
 * intercepts each packet, and sends the verdicts.
 */
#ifndef NFDNS_NFQ_WORKER_QUEUE_THREAD_H
#define NFDNS_NFQ_WORKER_QUEUE_THREAD_H

#include "nfq/handover/handover.h"
#include "nfq/thread/answering_thread.h"

/*
 * Starts the thread of queue "number" (0: the first) as one of "threads", which
 * own it from then on.  It uses the slot and the audit ring of the same number,
 * and borrows what the handover points to.  0 or a negative errno.
 */
int queue_thread_start(struct answering_threads *threads,
    const struct worker_handover *handover, unsigned int number)
    __attribute__((warn_unused_result));

#endif

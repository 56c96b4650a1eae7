/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker process.  Its only privilege is CAP_NET_ADMIN.  It has one thread
 * for each queue, one for TCP, the audit's writer, and the main thread, which
 * takes the supervisor's orders.
 */
#ifndef NFDNS_NFQ_WORKER_WORKER_H
#define NFDNS_NFQ_WORKER_WORKER_H

#include <stdint.h>

#include "nfq/handover/handover.h"
#include "nfq/thread/answering_thread.h"
#include "nfq/cache/cache.h"
#include "nfq/packet/intercept.h"

/*
 * Runs in the child until the supervisor says CONTROL_STOP.  Returns the exit
 * status (enum worker_exit); or ends the process with one, if the supervisor is
 * gone or a thread can no longer do its work.
 */
int worker_run(const struct worker_handover *handover);

/*
 * The packet path: one thread for each queue receives a batch of packets,
 * intercepts each packet, and sends the verdicts.
 */

/*
 * Starts the thread of queue "number" (0: the first) as one of "threads", which
 * own it from then on.  It uses the slot and the audit ring of the same number,
 * and borrows what the handover points to.  0 or a negative errno.
 */
int queue_thread_start(struct answering_threads *threads,
    const struct worker_handover *handover, unsigned int number)
    __attribute__((warn_unused_result));

/* A packet's reply from the cache, as queue threads give it. */

/*
 * Called after intercept_answer(), for a packet with settings.  If the question
 * is of a forward domain and its answer is kept, decision, answer and reply become
 * those; else nothing changes.  If a rule denies a name of the answer, they become what
 * that rule says.  Returns the domain's place in the settings, or -1 if
 * nothing changed; *absent: since the cache has nothing of it.
 */
int cached_reply(struct interception *interception,
    const struct answer_source *source, struct cache *cache,
    uint8_t reply[static INTERCEPT_REPLY_MAX], bool *absent);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packet path: one thread for each queue that receives a batch, has each
 * packet intercepted, and sends the verdicts.  The threads share nothing but
 * the table, which is swapped under them without a lock.
 */
#ifndef NFDNS_NFQ_WORKER_QUEUE_THREAD_H
#define NFDNS_NFQ_WORKER_QUEUE_THREAD_H

#include <stdint.h>

#include "nfq/handover/handover.h"
#include "nfq/thread/snapshot.h"
#include "policy/audit/audit.h"

struct judges;			/* owns the threads and their buffers */

/*
 * Makes one thread for each queue of handover; they wait for judges_begin().
 * Borrows snapshot until it is swapped, audit until judges_stop().
 * 0 or a negative errno.
 */
int judges_start(struct judges **judges, const struct worker_handover *handover,
    const struct snapshot *snapshot, struct audit *audit)
    __attribute__((warn_unused_result));

/* Lets them read packets.  Call once. */
void judges_begin(struct judges *judges);

/*
 * Has every answer from now on given from "next".  Returns when no thread
 * looks at the snapshot before it any more: its owner may free that then.
 */
void judges_swap(struct judges *judges, const struct snapshot *next);

/*
 * Has the threads judge what waits in their queues and end, and frees all.
 * Only after judges_begin().
 */
void judges_stop(struct judges *judges);

#endif

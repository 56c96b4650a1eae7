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
#include "nfq/thread/generation.h"
#include "policy/audit/audit.h"

struct queue_threads; /* owns the threads and their buffers */

/*
 * Makes one thread for each queue of handover; they wait for
 * queue_threads_begin(). Borrows generation until it is swapped, audit until
 * queue_threads_stop(). 0 or a negative errno.
 */
int queue_threads_start(struct queue_threads **threads,
    const struct worker_handover *handover, const struct generation *generation,
    struct audit *audit) __attribute__((warn_unused_result));

/* Lets them read packets.  Call once. */
void queue_threads_begin(struct queue_threads *threads);

/*
 * Has every answer from now on given from "next".  Returns when no thread
 * looks at the generation before it any more: its owner may free that then.
 */
void queue_threads_swap(
    struct queue_threads *threads, const struct generation *next);

/*
 * Has the threads answer what waits in their queues and end, and frees all.
 * Only after queue_threads_begin().
 */
void queue_threads_stop(struct queue_threads *threads);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forwarding thread probes upstreams, for all threads that ask (forwarder.h), and
 * shows what is known of them.
 */
#ifndef NFDNS_NFQ_FORWARD_THREAD_H
#define NFDNS_NFQ_FORWARD_THREAD_H

#include "nfq/handover/handover.h"
#include "nfq/thread/answering_thread.h"

struct forward_thread;

/*
 * Starts the thread as one of "threads", which own it from then on.  It uses the
 * slot and the audit ring of that number, and borrows what the handover points to.  0 and *thread, or a
 * negative errno.
 */
int forward_start(struct forward_thread **thread,
    struct answering_threads *threads, const struct worker_handover *handover,
    unsigned int number) __attribute__((warn_unused_result));

/*
 * Called by the main thread when packets get to the queue: what leads back to us
 * can be found from now on.  NULL is allowed.
 */
void forward_look_for_loops(struct forward_thread *thread);

/*
 * Called by the main thread: the thread removes answers from the cache and tells
 * the supervisor how many (CONTROL_FLUSHED).  False: it has no thread, or has
 * another such order yet.
 */
bool forward_take_flush(struct forward_thread *thread,
    const struct flush *flush);

/*
 * Called by the main thread after a reload: the thread takes the new settings at
 * once, even if no question comes.  NULL is allowed.
 */
void forward_take_generation(struct forward_thread *thread);

#endif

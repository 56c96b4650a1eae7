/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DNS over TCP: one thread that accepts the intercepted connections, answers
 * questions for mesh names on them and relays the others to the nameserver that
 * the client addressed (RFC 7766, 7828, 9210).
 */
#ifndef NFDNS_NFQ_STREAM_STREAM_H
#define NFDNS_NFQ_STREAM_STREAM_H

#include "nfq/handover/handover.h"
#include "nfq/thread/answering_thread.h"

struct stream;			/* the thread and its connections */

/*
 * Starts the thread as one of "threads", which own it from then on: *stream is
 * valid until answering_threads_stop().  "number" is that of its slot and of
 * its audit ring.  Borrows what the handover points to, the listeners too.
 * 0 or a negative errno; on an error the process is expected to end, so nothing
 * is freed.
 */
int stream_start(struct stream **stream, struct answering_threads *threads,
    const struct worker_handover *handover, unsigned int number)
    __attribute__((warn_unused_result));

#endif

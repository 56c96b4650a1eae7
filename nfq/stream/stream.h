/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DNS over TCP: one thread that accepts the intercepted connections, answers
 * questions for mesh names on them and relays the others to the nameserver that
 * the client addressed (RFC 7766, 7828, 9210).
 */
#ifndef NFDNS_NFQ_STREAM_STREAM_H
#define NFDNS_NFQ_STREAM_STREAM_H

#include "nfq/handover/handover.h"
#include "nfq/thread/generation.h"
#include "policy/audit/audit.h"

struct stream;			/* owns the thread and its connections */

/*
 * Makes the thread, which waits for stream_begin().  "slot" is that of the
 * status page and the ring of the audit.  Borrows generation until it is swapped,
 * audit until stream_stop(), the listeners for good.  0 or a negative errno.
 */
int stream_start(struct stream **stream, const struct worker_handover *handover,
    const struct generation *generation, struct audit *audit, unsigned int slot)
    __attribute__((warn_unused_result));

/* These do nothing if stream is NULL: TCP is not captured then. */

void stream_begin(struct stream *stream);

/* As queue_threads_swap(). */
void stream_swap(struct stream *stream, const struct generation *next);

/*
 * A channel to nfdns-sockets (nfq/sockets/client.h), taken over; or -1 when
 * there is none to be had.
 */
void stream_take_sockets(struct stream *stream, int channel);

/* Closes all connections, ends the thread and frees.  After stream_begin(). */
void stream_stop(struct stream *stream);

#endif

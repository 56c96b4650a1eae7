/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The client side of nfdns-sockets (server.h). */
#ifndef NFDNS_NFQ_SOCKETS_CLIENT_H
#define NFDNS_NFQ_SOCKETS_CLIENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/sockets/message.h"

/*
 * A channel to the listener at path, or a negative errno.  Never waits.  It ends by
 * sockets_leave().
 */
int sockets_connect(const char *path) __attribute__((warn_unused_result));

/*
 * The same, restricted: through this channel nfdns-sockets opens only
 * connections to port 53 and to these upstreams (SOCKETS_UPSTREAM), of which
 * there are SOCKETS_UPSTREAMS at most.  It is for the worker, which an
 * attacker's packet may take over.
 */
int sockets_connect_restricted(const char *path,
    const struct sockets_request *upstreams, size_t count)
    __attribute__((warn_unused_result));

/* Sends a request, without waiting.  0 or a negative errno. */
int sockets_request(int channel, const struct sockets_request *request)
    __attribute__((warn_unused_result));

/*
 * Takes the next answer, which is to the oldest request that has none: "asked", or
 * NULL if it is of no use any more; then what comes is closed.  0, and *fd is the
 * socket (the caller's; received.h), the negative errno with which opening it
 * failed, or without use -1; -EAGAIN if there is no answer yet.  After any other
 * error, leave the channel: -EPERM (another user than uid answers; the rules do not
 * bypass its sockets), -ECONNRESET, -EPROTO (it is not what was asked for, too).
 */
int sockets_answer(int channel, uid_t uid,
    const struct sockets_request *asked, int *fd)
    __attribute__((warn_unused_result));

/* Says why a channel has to be left, after sockets_answer(). */
const char *sockets_why_left(int error);

/* Closes a channel, and what is still in it. */
void sockets_leave(int channel);

/* Requests and waits.  The socket, the caller's, or a negative errno. */
int sockets_ask(int channel, uid_t uid, const struct sockets_request *request,
    int timeout_ms) __attribute__((warn_unused_result));

#endif

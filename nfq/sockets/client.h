/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The client side of nfdns-sockets (server.h). */
#ifndef NFDNS_NFQ_SOCKETS_CLIENT_H
#define NFDNS_NFQ_SOCKETS_CLIENT_H

#include <stdint.h>
#include <sys/types.h>

#include "nfq/sockets/message.h"

/* A channel to the listener at path, without waiting, or a negative errno. */
int sockets_connect(const char *path) __attribute__((warn_unused_result));

/*
 * A channel from which nothing can be had but connections to nameservers: for
 * a process that packets may take over.
 */
int sockets_connect_restricted(const char *path)
    __attribute__((warn_unused_result));

/* Sends a request, without waiting.  0 or a negative errno. */
int sockets_request(int channel, const struct sockets_request *request)
    __attribute__((warn_unused_result));

/*
 * Takes an answer: 0 and *fd, which is the socket or a negative errno; -EAGAIN
 * when there is none; another errno when the channel is of no use any more:
 * -EPERM if another user than uid answers, whose sockets our rules do not let
 * by, else -ECONNRESET or -EPROTO.
 */
int sockets_answer(int channel, uid_t uid, int *fd)
    __attribute__((warn_unused_result));

/* Requests and waits: the socket, or a negative errno. */
int sockets_ask(int channel, uid_t uid, const struct sockets_request *request,
    int timeout_ms) __attribute__((warn_unused_result));

#endif

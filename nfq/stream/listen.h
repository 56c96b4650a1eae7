/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The listening sockets of intercepted connections: one on 127.0.0.1, then one
 * on ::1.  They belong to the supervisor, so that no connection is refused
 * while one worker replaces another.
 */
#ifndef NFDNS_NFQ_STREAM_LISTEN_H
#define NFDNS_NFQ_STREAM_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "nfq/sockets/open.h"
#include "policy/config/config.h"

#define STREAM_LISTENERS 2

/*
 * The request for listening socket number "which" at that port, or at one that
 * the kernel chooses (0): sockets_open() opens it.
 */
struct sockets_request stream_listen_request(size_t which, uint16_t port);

/*
 * Makes the socket transparent (ip(7), IP_TRANSPARENT), so that accepted
 * sockets have the nameserver's address, and listens.  Its packets get the mark
 * of answers, so that conntrack does not see them.  0 or a negative errno.
 */
int stream_listen_begin(int fd, size_t which, const struct config *config)
    __attribute__((warn_unused_result));

/*
 * The port of fd, from a predecessor or just opened, or 0 if that is no listening
 * socket "which".
 */
uint16_t stream_listen_port(int fd, size_t which);

#endif

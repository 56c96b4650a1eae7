/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sockets without an attempt, for upstream_sockets.c alone: idle, ready, spare. */
#ifndef NFDNS_NFQ_UPSTREAM_UPSTREAM_POOL_H
#define NFDNS_NFQ_UPSTREAM_UPSTREAM_POOL_H

#include "nfq/upstream/upstream_sockets.h"

/* Takes its socket out of the epoll and closes it, and frees its buffer. */
void upstream_pool_shut(struct upstream_sockets *all,
    struct upstream_socket *socket);

/* One without a socket, or NULL without memory. */
struct upstream_socket *upstream_pool_new(struct upstream_sockets *all);

/* A UDP socket for that upstream that is idle or ready, or NULL. */
struct upstream_socket *upstream_pool_take(struct upstream_sockets *all,
    const struct sockets_request *request);

/* It stands in no list; its socket is closed. */
void upstream_pool_spare(struct upstream_sockets *all,
    struct upstream_socket *socket);

/* One of the dead: it is idle from now on, or closed. */
void upstream_pool_rest(struct upstream_sockets *all,
    struct upstream_socket *socket, monotime_t now);

/* One that was asked for ahead has come, or a negative errno. */
void upstream_pool_keep(struct upstream_sockets *all,
    struct upstream_socket *socket, int fd);

/* Whether one more may be asked for ahead. */
bool upstream_pool_wants(const struct upstream_sockets *all,
    const struct sockets_request *request);

/* Closes what was not used for a while, and when that is to be done next. */
void upstream_pool_age(struct upstream_sockets *all, monotime_t now);
monotime_t upstream_pool_next(const struct upstream_sockets *all);

/* Frees all. */
void upstream_pool_empty(struct upstream_sockets *all);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sockets without an attempt, for upstream_sockets.c alone: idle and spare ones. */
#ifndef NFDNS_NFQ_UPSTREAM_UPSTREAM_POOL_H
#define NFDNS_NFQ_UPSTREAM_UPSTREAM_POOL_H

#include "nfq/upstream/upstream_sockets.h"

/* Closes its socket, if it has one. */
void upstream_pool_shut(struct upstream_socket *socket);

/* One without a socket, or NULL without memory. */
struct upstream_socket *upstream_pool_new(struct upstream_sockets *all);

/* An idle UDP socket of that family, which epoll watches already, or NULL. */
struct upstream_socket *upstream_pool_take(struct upstream_sockets *all,
    int family);

/* It stands in no list; its socket is closed. */
void upstream_pool_spare(struct upstream_sockets *all,
    struct upstream_socket *socket);

/* One of the dead: it is idle from now on, or closed. */
void upstream_pool_rest(struct upstream_sockets *all,
    struct upstream_socket *socket, monotime_t now);

/* Closes what was not used for a while, and when that is to be done next. */
void upstream_pool_age(struct upstream_sockets *all, monotime_t now);
monotime_t upstream_pool_next(const struct upstream_sockets *all);

/* Frees all. */
void upstream_pool_empty(struct upstream_sockets *all);

#endif

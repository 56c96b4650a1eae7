/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of tls_upstreams.h call in each other: for them alone.  None of
 * these calls the engine.
 */
#ifndef NFDNS_NFQ_FORWARD_TLS_STATE_H
#define NFDNS_NFQ_FORWARD_TLS_STATE_H

#include "nfq/forward/tls_upstreams.h"

#define TLS_MUTE_MS	4000	/* no answer comes, although some are awaited */

/* The upstream's place, which it gets if it has none; NULL: all are taken. */
struct tls_upstream *tls_place(struct tls_upstreams *t,
    const struct forward_upstream *to);

/* NULL: there is no such connection any more. */
struct tls_upstream *tls_by_connection(struct tls_upstreams *t,
    uint32_t connection);

/* Begins a connection, if it may. */
void tls_begin(struct tls_upstreams *t, monotime_t now,
    struct tls_upstream *u);

/* The socket for a connection is there; nfdns-tls gets it. */
void tls_hand_over(struct tls_upstreams *t, monotime_t now,
    struct tls_upstream *u, int fd);

/* Sends what waits, as far as there is a connection, and room. */
void tls_flush(struct tls_upstreams *t, monotime_t now,
    struct tls_upstream *u);

/* Something is over: the connection is closed after a while without questions. */
void tls_rest(const struct tls_upstreams *t, monotime_t now,
    struct tls_upstream *u);

/* The other side has ended the connection. */
void tls_connection_over(struct tls_upstreams *t, monotime_t now,
    struct tls_upstream *u, enum tls_end end, const char *why);

/* We end it: for a fault of the upstream, or because nothing needs it. */
void tls_give_up(struct tls_upstreams *t, monotime_t now,
    struct tls_upstream *u, enum tls_end end, const char *why);
void tls_close_idle(struct tls_upstreams *t, struct tls_upstream *u);

/* Forgets the connection; its upstream's history and its questions stay. */
void tls_reset(struct tls_upstream *u);

/* Tells epoll(7) whether room in the channel is waited for. */
void tls_watch(struct tls_upstreams *t);

/* The channel to nfdns-tls is closed; error: 0 or why, a negative errno. */
void tls_lose_channel(struct tls_upstreams *t, int error);

#endif

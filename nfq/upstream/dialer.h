/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sockets of connections to upstreams, with TLS or without: the process opens
 * them itself, or nfdns-sockets does (nfq/sockets/server.h), and then they come
 * later.
 */
#ifndef NFDNS_NFQ_UPSTREAM_DIALER_H
#define NFDNS_NFQ_UPSTREAM_DIALER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/sockets/message.h"
#include "policy/config/forward_settings.h"
#include "resolver/clock.h"

#define DIALER_ASKED	128	/* requests on the channel */

/* A connection that a socket was asked for. */
struct dialer_asked {
	uint32_t number;
	struct sockets_request request;
};

struct dialer {
	int epoll;			/* borrowed */
	uint32_t mark;			/* of sockets; 0: none */
	uint32_t last;			/* connection's number */
	bool helper;			/* nfdns-sockets opens them */
	uid_t uid;			/* that it has to run as */
	int channel;			/* -1: none */
	monotime_t wanted;		/* when a channel was asked for */
	struct dialer_asked asked[DIALER_ASKED];	/* a ring */
	unsigned int oldest, asked_count;
};

void dialer_init(struct dialer *dialer, int epoll,
    uint32_t mark);
void dialer_close(struct dialer *dialer);

/* A number for a connection: not 0, and not in use. */
uint32_t dialer_number(struct dialer *dialer);

/* Whether dialer_open() may be called now. */
bool dialer_ready(const struct dialer *dialer);

/*
 * Opens the socket of a connection, which may be in progress then.  The socket,
 * the caller's; -EINPROGRESS: it comes by dialer_take(); or another
 * negative errno.
 */
int dialer_open(struct dialer *dialer, uint32_t number,
    const struct forward_upstream *to) __attribute__((warn_unused_result));

/*
 * Of a connection that has been made: whether it is to that upstream (0), or a
 * negative errno.
 */
int dialer_check(const struct dialer *dialer, int fd,
    const struct forward_upstream *to) __attribute__((warn_unused_result));

/* Closes a socket that was opened, which may wait for nothing. */
void dialer_shut(const struct dialer *dialer, int fd);

/*
 * A new channel to nfdns-sockets.  dialer_take() must have been called,
 * after dialer_lose(), for what was asked of the last one.  epoll's data
 * of its events is "dialer".
 */
void dialer_use(struct dialer *dialer, int channel);
void dialer_lose(struct dialer *dialer);

/*
 * The next socket that came for a connection, or a negative errno; -EPIPE: the
 * channel is gone.  False: there is none now.
 */
bool dialer_take(struct dialer *dialer, uint32_t *number,
    int *fd);

/*
 * Whether a channel is needed, since questions wait for connections, and has not
 * been asked for in the last second; then it counts as asked for at "now".
 */
bool dialer_wants(struct dialer *dialer, monotime_t now,
    bool any_waits);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The UDP sockets of the attempts under way (engine.h): a connected one for each,
 * with a fresh random port, so that the kernel takes replies only from the
 * server that was asked (RFC 5452 section 9.1).
 *
 * A socket is used again for another question, which costs half of a new one: it is
 * disconnected, which takes its port away, and connected again.  Idle ones have no
 * port.
 */
#ifndef NFDNS_NFQ_UPSTREAM_UPSTREAM_SOCKETS_H
#define NFDNS_NFQ_UPSTREAM_UPSTREAM_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "nfq/sockets/open.h"
#include "policy/config/forward_settings.h"
#include "resolver/clock.h"

#define UPSTREAM_MESSAGE_MAX	65535

struct upstream_socket {
	int fd;				/* -1: closed */
	uint32_t attempt;
	bool watched;			/* by epoll */
	bool over;			/* of no attempt: dead or idle */
	monotime_t idle_since;
	struct sockets_request request;
	TAILQ_ENTRY(upstream_socket) entry;	/* of one of the lists below */
};

#define UPSTREAM_SOCKET_LISTS	1024
#define UPSTREAM_SOCKETS_IDLE	2048	/* as many as a domain's questions */
#define UPSTREAM_SOCKETS_IDLE_MS 10000	/* then they are closed */
TAILQ_HEAD(upstream_socket_list, upstream_socket);

struct upstream_sockets {
	int epoll;			/* borrowed */
	uint32_t mark;			/* of all sockets; 0: none */
	struct upstream_socket_list open[UPSTREAM_SOCKET_LISTS]; /* by attempt */
	struct upstream_socket_list dead;	/* ended in this round */
	struct upstream_socket_list idle;	/* the last used first */
	unsigned int idle_count;
	unsigned int idle_most;
	struct upstream_socket_list spare;	/* without sockets */
	uint8_t datagram[UPSTREAM_MESSAGE_MAX];
};

void upstream_sockets_init(struct upstream_sockets *all, int epoll,
    uint32_t mark);
/* Closes all. */
void upstream_sockets_close(struct upstream_sockets *all);

/*
 * Opens a socket and sends a message: engine_host.send.  epoll's data of its
 * events is the socket.
 */
int upstream_sockets_send(struct upstream_sockets *all, uint32_t attempt,
    const struct forward_upstream *to, const uint8_t *octets, size_t length) __attribute__((warn_unused_result));

/*
 * An attempt goes on with a socket that somebody else has connected to that upstream
 * and sent its message by; it is taken over in any case.
 */
int upstream_sockets_adopt(struct upstream_sockets *all, uint32_t attempt,
    const struct forward_upstream *to, int fd)
    __attribute__((warn_unused_result));

/* engine_host.close. */
void upstream_sockets_forget(struct upstream_sockets *all, uint32_t attempt);

/*
 * After an event: the next message that came.  Returns its length and *octets,
 * which live until the next call; -EAGAIN: no more; or another negative errno:
 * the attempt failed.
 */
ssize_t upstream_sockets_receive(struct upstream_sockets *all,
    struct upstream_socket *socket, const uint8_t **octets);

/*
 * The round is over: no event leads to a closed socket any more.  Sockets that
 * were not used for a while are closed.
 */
void upstream_sockets_end_round(struct upstream_sockets *all, monotime_t now);

/* When a socket is to be closed next; MONOTIME_NEVER: none is idle. */
monotime_t upstream_sockets_next(const struct upstream_sockets *all);

#endif

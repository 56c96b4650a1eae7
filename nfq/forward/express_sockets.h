/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The UDP sockets of questions that a queue thread asks (express.h): a connected one
 * for each question, with a fresh random port (RFC 5452 section 9.2).  The thread
 * opens them by itself, and uses them again.
 *
 * A fresh port is a quarter of what a question costs: two connect(2), an entry of
 * conntrack, and the hash tables of both.  So while many are under way
 * (express_sockets_keep_ports()), and only then, a port serves up to 64 one after the
 * other, the last one asked 20 ms after the first at most.  One to which anything came but the reply that was awaited
 * serves no more: who forges replies has one guess at each port and id, as with fresh
 * ones, and less time to find a port than a scan of them takes.
 *
 * What else makes them cheap:
 * - The one that was used last is taken first: its memory is at hand.
 * - A socket without a port can get nothing more; whether something had come before
 *   is seen by the next epoll_wait(2), and needs no look at each.
 * - One that is used often keeps its source address for a second, for one upstream's
 *   address: the kernel need not find that before it looks for the route
 *   (ip_route_connect() in include/net/route.h), nor enter the socket in its lists
 *   anew.
 *
 * One thread uses all of this.
 */
#ifndef NFDNS_NFQ_FORWARD_EXPRESS_SOCKETS_H
#define NFDNS_NFQ_FORWARD_EXPRESS_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nfq/sockets/open.h"
#include "policy/config/forward_settings.h"
#include "resolver/clock.h"

#define EXPRESS_SOCKETS		1024

struct express_attempt;
struct express_socket_list;

struct express_socket {
	int fd;				/* -1: none */
	bool watched;			/* by epoll */
	bool keeps_source;
	unsigned int uses;		/* without keeping its source */
	unsigned int asked;		/* questions, from its port; 0: it has none */
	monotime_t opened;		/* CLOCK_BOOTTIME, as is: */
	monotime_t connected;		/* when it got its port */
	struct express_attempt *attempt;	/* NULL: nobody's */
	struct sockets_request to;
	struct express_socket_list *list;	/* that has it; NULL: it is taken */
	TAILQ_ENTRY(express_socket) entry;
};

TAILQ_HEAD(express_socket_list, express_socket);

struct express_sockets {
	uint32_t mark;			/* of all; 0: none */
	int epoll;			/* borrowed */
	monotime_t aged;
	unsigned int used;		/* ever, of: */
	struct express_socket sockets[EXPRESS_SOCKETS];
	bool keeps_ports;
	struct express_socket_list ready;	/* with a port, the last used first */
	struct express_socket_list idle;	/* without; the last used first */
	struct express_socket_list resting;	/* used since the last wait */
	struct express_socket_list closed;
};

/* In zeroed memory, behind the members up to "epoll". */
void express_sockets_init(struct express_sockets *sockets);

/* Closes them all. */
void express_sockets_free(struct express_sockets *sockets);

/*
 * One that is connected to the upstream, for the attempt; NULL: there is none to be
 * had.  Events of it come with its address.
 */
struct express_socket *express_sockets_take(struct express_sockets *sockets,
    struct express_attempt *attempt, const struct forward_upstream *upstream,
    monotime_t now)
    __attribute__((warn_unused_result));

/*
 * Whether, from now on, a port may serve several questions.  False: those that are
 * nobody's give theirs up.
 */
void express_sockets_keep_ports(struct express_sockets *sockets, bool keeps);

/* Its question is answered: nothing reaches it any more, unless it keeps its port. */
void express_sockets_done(struct express_sockets *sockets,
    struct express_socket *socket);

/* Somebody else has its descriptor now, and closes it. */
void express_sockets_give(struct express_sockets *sockets,
    struct express_socket *socket);

/* Closes it. */
void express_sockets_close(struct express_sockets *sockets,
    struct express_socket *socket);

/*
 * After an epoll_wait(2) that has told of all that have something to be read: those
 * that were nobody's were closed.
 */
void express_sockets_are_empty(struct express_sockets *sockets);

/* Before the thread waits for something else. */
void express_sockets_rest(struct express_sockets *sockets);

/* Closes idle ones, every ten seconds of that clock. */
void express_sockets_age(struct express_sockets *sockets, monotime_t now);

#endif

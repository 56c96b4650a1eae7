/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The UDP sockets of the attempts under way (engine.h): a connected one for each, with
 * a fresh random port, so that the kernel takes replies only from the server that was
 * asked (RFC 5452 section 9).
 *
 * A fresh port is a quarter of what a question costs: two connect(2), an entry of
 * conntrack, and the hash tables of both.  So while many are under way
 * (ports_keep()), and only then, a port serves up to 64 one after the
 * other, the last one asked 20 ms after the first at most.  One to which anything came
 * but the reply that was awaited serves no more: who forges replies has one guess at
 * each port and id, as with fresh ones, and less time to find a port than a scan of
 * them takes.
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
#ifndef NFDNS_NFQ_UPSTREAM_PORTS_H
#define NFDNS_NFQ_UPSTREAM_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "nfq/sockets/open.h"
#include "policy/config/forward_settings.h"
#include "resolver/clock.h"

#define PORTS_LISTS	1024
#define PORTS_NOBODY	UINT32_MAX	/* no attempt */
#define PORTS_DATAGRAM	65535

struct port_list;

struct port {
	int fd;				/* -1: none */
	bool watched;			/* by epoll */
	bool keeps_source;
	bool replied;			/* something came for the attempt, */
	bool doubtful;			/* and it was not its reply */
	unsigned int uses;		/* without keeping its source */
	unsigned int asked;		/* questions, from its port; 0: it has none */
	monotime_t opened;		/* CLOCK_BOOTTIME, as is: */
	monotime_t connected;		/* when it got its port */
	uint32_t attempt;		/* or PORTS_NOBODY */
	struct sockets_request to;
	struct port_list *list;		/* that has it; NULL: it is taken */
	TAILQ_ENTRY(port) entry;
};

TAILQ_HEAD(port_list, port);

struct ports {
	uint32_t mark;			/* of all; 0: none */
	int epoll;			/* borrowed */
	monotime_t aged;
	unsigned int used, most;	/* ever, of: */
	struct port *ports;
	bool keeps_ports;
	struct port_list open[PORTS_LISTS];	/* of attempts */
	struct port_list ready;		/* with a port, the last used first */
	struct port_list idle;		/* without; the last used first */
	struct port_list resting;	/* used since the last wait */
	struct port_list closed;
	uint8_t datagram[PORTS_DATAGRAM];
};

/* At most so many; their memory is touched as they are used.  0 or -ENOMEM. */
int ports_init(struct ports *ports, int epoll, uint32_t mark, unsigned int most)
    __attribute__((warn_unused_result));

/* Closes them all.  After a failed ports_init(), and of zeroed memory, too. */
void ports_free(struct ports *ports);

/*
 * engine_host.send over UDP: the message leaves by a port of its own.  epoll's data of
 * its events is the struct port.  0 or a negative errno.
 */
int ports_send(struct ports *ports, monotime_t now, uint32_t attempt,
    const struct forward_upstream *to, const uint8_t *octets, size_t length)
    __attribute__((warn_unused_result));

/* engine_host.close: nothing reaches it any more, unless it keeps its port. */
void ports_forget(struct ports *ports, uint32_t attempt);

/*
 * After an event: the next message that came.  Returns its length and *octets,
 * which live until the next call; -EAGAIN: no more; or another negative errno:
 * the attempt failed.
 */
ssize_t ports_receive(struct ports *ports, struct port *port,
    const uint8_t **octets);

/*
 * Whether, from now on, a port may serve several questions.  False: those that are
 * nobody's give theirs up.
 */
void ports_keep(struct ports *ports, bool keeps);

/* An event of a port that is nobody's: a straggler came, and it is closed. */
void ports_close_straggler(struct ports *ports, struct port *port);

/*
 * After an epoll_wait(2) that has told of all that have something to be read: those
 * that were nobody's were closed.
 */
void ports_are_empty(struct ports *ports);

/* Before the thread waits for something else. */
void ports_rest(struct ports *ports);

/* Closes idle ones, every ten seconds of that clock. */
void ports_age(struct ports *ports, monotime_t now);
monotime_t ports_next(const struct ports *ports);	/* when that is due */

#endif

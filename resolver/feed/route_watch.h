/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This machine's addresses and routes have changed, and what that means for a
 * connection: TCP itself would notice only by what it sends not being answered.
 */
#ifndef NFDNS_RESOLVER_FEED_ROUTE_WATCH_H
#define NFDNS_RESOLVER_FEED_ROUTE_WATCH_H

#include <stdbool.h>

/*
 * A descriptor of rtnetlink(7) to poll(2) for POLLIN and to close(2), or a
 * negative errno.
 */
int route_watch_open(void) __attribute__((warn_unused_result));

/*
 * Takes what is there, at most so much at a time that others have their turn.
 * True: something may have changed; what, is for the caller to look up, since
 * messages may have been lost.
 */
bool route_watch_take(int fd);

enum route_state {
	ROUTE_GOOD,			/* as far as this machine knows */
	ROUTE_OTHER,			/* a new one would have another address */
	ROUTE_LOST,			/* its address is not this machine's */
};

/*
 * What has become of a connected socket's way.  Opens sockets of UDP and sends
 * nothing.  Where the sysctl ip_nonlocal_bind is set, none is ever lost.
 */
enum route_state route_of(int fd);

#endif

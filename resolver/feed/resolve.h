/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The addresses of a host, by c-ares: /etc/hosts and the nameservers of
 * /etc/resolv.conf, both read anew each time.  Nothing blocks.
 */
#ifndef NFDNS_RESOLVER_FEED_RESOLVE_H
#define NFDNS_RESOLVER_FEED_RESOLVE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "resolver/feed/feed.h"

#define RESOLVE_ADDRESSES 32		/* that are tried of one host */
#define RESOLVE_FDS	16

struct resolve_address {
	struct sockaddr_storage address;
	socklen_t length;
};

struct resolve_addresses {
	struct resolve_address list[RESOLVE_ADDRESSES];
	size_t count;
};

/* Adds an address that is written as such.  False if it is none, or if full. */
bool resolve_literal(const char *text, uint16_t port,
    struct resolve_addresses *addresses);

/* "192.0.2.1:15012", "[2001:db8::1]:15012". */
void resolve_print(const struct resolve_address *address,
    char out[static FEED_TEXT]);

struct resolve;

/* Starts asking.  NULL: no memory.  free accepts NULL and ends the questions. */
struct resolve *resolve_new(const char *host, uint16_t port)
    __attribute__((warn_unused_result));
void resolve_free(struct resolve *resolve);

/* What to wait for: at most RESOLVE_FDS, and milliseconds, -1: no limit. */
size_t resolve_poll(struct resolve *resolve, struct pollfd *fds);
int resolve_timeout_ms(struct resolve *resolve);

/* Goes on after poll(2).  True: it is done, see resolve_result(). */
bool resolve_step(struct resolve *resolve, const struct pollfd *fds,
    size_t count);

/* NULL, and the reason, if there is no address. */
const struct resolve_addresses *resolve_result(const struct resolve *resolve,
    const char **why);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The canary: a question of our own sent the way that an application's goes,
 * to the nameservers that applications use, answered by our own worker.  It
 * proves the whole way: rules, queue, worker, verdict, mark, reroute, input.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_CANARY_H
#define NFDNS_NFQ_SUPERVISOR_CANARY_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/config/config.h"
#include "policy/config/resolv_conf.h"
#include "resolver/text/diag.h"

/*
 * UDP sockets of IPv4 and of IPv6 that others opened, in this order (-1: there
 * is none), to be used again for each canary; unless "given", it opens its own.
 */
#define CANARY_SOCKETS	2
struct canary_sockets {
	bool given;
	int fds[CANARY_SOCKETS];
};

/*
 * Asks by way of each nameserver of /etc/resolv.conf that there is a route to
 * (127.0.0.1 if there is none).  Returns 0 when each was answered by nfdnsd;
 * -ETIMEDOUT with an error in diag that names the nameserver and the likely
 * causes; or another negative errno, with an error in diag too.
 */
int canary_ask(const struct config *config,
    const struct canary_sockets *sockets, int timeout_ms, struct diag *diag)
    __attribute__((warn_unused_result));

/* One canary under way, for who must not wait. */
struct canary {
	int fd;			/* for poll(2); -1: none */
	uint16_t id;
	struct resolv_server server;
};

/*
 * Sends one by way of the first nameserver that takes it, as canary_ask().
 * 0, or a negative errno and no canary.  One at a time with the same sockets.
 */
int canary_send(struct canary *canary, const struct config *config,
    const struct canary_sockets *sockets) __attribute__((warn_unused_result));

/*
 * Whether it was answered: 0; -EAGAIN not yet; -EPROTO or another errno when
 * somebody else answered, which means that the question went past the queue.
 */
int canary_receive(struct canary *canary) __attribute__((warn_unused_result));

void canary_close(struct canary *canary);

#endif

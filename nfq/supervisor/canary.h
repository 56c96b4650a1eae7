/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The canary: a question that the supervisor sends as an application would, to
 * the nameservers that applications use.  The worker answers it.  It proves the
 * whole way: rules, queue, worker, verdict, mark, reroute, input.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_CANARY_H
#define NFDNS_NFQ_SUPERVISOR_CANARY_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/config/config.h"
#include "policy/config/resolv_conf.h"
#include "resolver/text/diag.h"

/*
 * Sends a canary to each nameserver of /etc/resolv.conf to which there is a
 * route (127.0.0.1 if the file names none), and waits.  Returns 0 if nfdnsd
 * answered each; -ETIMEDOUT with an error in diag that names the nameserver and
 * the likely causes; or another negative errno with an error in diag.
 */
int canary_ask(const struct config *config, int timeout_ms, struct diag *diag)
    __attribute__((warn_unused_result));

/* One canary in flight, for a caller that must not wait. */
struct canary {
	int fd;			/* for poll(2); -1: none */
	uint16_t id;
	struct resolv_server server;
};

/*
 * Sends one canary, as canary_ask() does, but only to the first nameserver to
 * which sending works.  0, or a negative errno; then nothing is in flight.
 */
int canary_send(struct canary *canary, const struct config *config)
    __attribute__((warn_unused_result));

/*
 * 0 if nfdnsd has answered; -EAGAIN if no answer has come yet; -EPROTO or
 * another negative errno if somebody else answered: then the question was not
 * queued.
 */
int canary_receive(struct canary *canary) __attribute__((warn_unused_result));

void canary_close(struct canary *canary);

#endif

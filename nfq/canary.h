/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The canary: a question of our own sent the way that an application's goes,
 * to the nameservers that applications use, answered by our own worker.  It
 * proves the whole way: rules, queue, worker, verdict, mark, reroute, input.
 */
#ifndef NFDNS_NFQ_CANARY_H
#define NFDNS_NFQ_CANARY_H

#include "policy/config.h"
#include "resolver/diag.h"

/*
 * Asks by way of each nameserver of /etc/resolv.conf that there is a route to
 * (127.0.0.1 if there is none).  Returns 0 when each was answered by nfdnsd;
 * -ETIMEDOUT with an error in diag that names the nameserver and the likely
 * causes; or another negative errno.
 */
int canary_ask(const struct config *config, int timeout_ms, struct diag *diag)
    __attribute__((warn_unused_result));

#endif

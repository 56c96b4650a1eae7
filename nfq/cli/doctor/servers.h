/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nameservers that programs of this machine ask: whether each answers, and
 * whether nfdnsd answers in its place; and what the C library makes of it.
 */
#ifndef NFDNS_NFQ_CLI_DOCTOR_SERVERS_H
#define NFDNS_NFQ_CLI_DOCTOR_SERVERS_H

#include <stdbool.h>

#include "nfq/cli/doctor/ask.h"
#include "nfq/cli/doctor/findings.h"
#include "policy/config/config.h"
#include "resolver/image/table.h"

/*
 * Those of resolv.conf, and those that systemd-resolved asks.  For each: UDP,
 * TCP, the canary question over both, and TCP as nfdnsd asks.
 */
#define SERVERS_MAX	(2 * RESOLV_CONF_MAX_SERVERS)
#define SERVERS_ASKS	5

/* Behind them upstreams of forward.domains, but those over TLS: UDP, TCP or both. */
struct servers {
	struct ask asks[SERVERS_MAX * SERVERS_ASKS + 2 * FORWARD_UPSTREAMS];
	size_t count;			/* of nameservers */
	size_t all;
	uint32_t upstream[2 * FORWARD_UPSTREAMS];	/* which asks[count + i] is */
};

/*
 * What there is to ask, with sockets that are open.  config NULL or "runs" false:
 * without the canary, which nobody would answer.
 */
void servers_open(struct servers *servers, const struct config *config,
    bool runs);

/* Asks all at once, and returns after two seconds at most. */
void servers_ask(struct servers *servers);

/* Which upstreams answered, and domains without any that did. */
void servers_check_upstreams(struct findings *findings,
    const struct servers *servers, const struct config *config);

/* config as above. */
void servers_check(struct findings *findings, const struct servers *servers,
    const struct config *config);

/*
 * Has getent(1) look some names of the table up, as programs do, and asks nfdns
 * explain about one that is not found; ends after some seconds.  "path": of the
 * configuration.
 */
void servers_check_names(struct findings *findings, const struct table *table,
    const char *path);

#endif

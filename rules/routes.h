/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Policy routing: one rule and one table for each version of IP.  They deliver
 * packets that carry the mark of intercepted connections to this machine,
 * whatever their destination.  All rules and routes of ours carry
 * ROUTES_PROTOCOL, so that a later start recognises what a crashed daemon left.
 * Until then they do no harm: without the rules of nf_tables no packet carries
 * the mark.
 *
 * Our rule precedes those of other programs (Tailscale's from priority 5210 on,
 * wg-quick's at 32764, Istio's and Cilium's, which match their own marks).
 * Behind them, a VPN's table would take the packets.
 */
#ifndef NFDNS_RULES_ROUTES_H
#define NFDNS_RULES_ROUTES_H

#include <stdbool.h>

#include "policy/config/config.h"
#include "resolver/text/diag.h"
#include "rules/ruleset.h"

/* rtm_protocol and FRA_PROTOCOL: "ip rule" shows it as "proto 53". */
#define ROUTES_PROTOCOL 53

struct routes;			/* owns netlink sockets and what is in the kernel */

/*
 * Removes what an earlier run left, then adds rules and routes.  Skips IPv6 if
 * the kernel has none.  Returns 0 and *routes; or a negative errno with an error
 * in diag, and nothing is added: -EBUSY if another program uses the table.
 * Borrows config only during the call.
 */
int routes_install(struct routes **routes, const struct config *config,
    struct diag *diag) __attribute__((warn_unused_result));

/*
 * For poll(2): readable when network devices or routing rules change, or when
 * one of our routes is removed.
 */
int routes_fd(const struct routes *routes);

/*
 * Adds again what is missing: systemd-networkd, for example, removes the rules
 * and routes of other programs when it starts.  Adds a route for each new
 * device: a packet that is bound to a device (by SO_BINDTODEVICE, or a
 * link-local address) needs a route through that device.  Returns true if a
 * rule or the route of lo was missing.
 */
bool routes_watch(struct routes *routes);

/* Removes everything from the kernel and frees routes; NULL is allowed. */
void routes_remove(struct routes *routes);

/*
 * Frees routes and leaves everything in the kernel, for a successor.  NULL is
 * allowed.
 */
void routes_leave(struct routes *routes);

/* Removes what a killed daemon left.  0 or a negative errno. */
int routes_clean(void);

#endif

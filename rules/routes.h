/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Policy routing: one rule and one table for each version of IP, by which
 * packets with the mark of an intercepted connection are delivered here
 * whatever their destination.  All that we put in carries ROUTES_PROTOCOL, by
 * which a later start knows what a crashed one left; with the rules of
 * nf_tables gone nothing carries the mark, so until then it does no harm.
 *
 * The rule stands before those that other programs add (Tailscale's from 5210
 * on, wg-quick's at 32764, Istio's and Cilium's, which look for their own
 * marks), or a VPN's table would take the packets.
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
 * Takes out what is left of another run, then puts in rule and routes.  IPv6 is
 * left out where the kernel has none.  0 and *routes; or a negative errno,
 * nothing put in, and an error in diag: -EBUSY when another program uses the
 * table.  Borrows config's values only during the call.
 */
int routes_install(struct routes **routes, const struct config *config,
    struct diag *diag) __attribute__((warn_unused_result));

/*
 * For poll(2): readable when network devices or routing rules come and go, or
 * routes of ours go.
 */
int routes_fd(const struct routes *routes);

/*
 * Puts in again what is gone: systemd-networkd, for one, takes out what is not
 * its own when it starts.  True if a rule or the route of lo was gone.  Adds
 * what new devices need: a packet that is bound to a device (by SO_BINDTODEVICE,
 * or a link-local address) looks for a route by that device.
 */
bool routes_watch(struct routes *routes);

/* Takes everything out and frees; NULL is allowed. */
void routes_remove(struct routes *routes);

/* Lets go of them, for a successor: they stay in the kernel. */
void routes_leave(struct routes *routes);

/* Takes out what a daemon that was killed left.  0 or a negative errno. */
int routes_clean(void);

/*
 * Compares the kernel with what config wants.  0 and *state, RULES_EQUAL or
 * RULES_DIFFER, with every difference as an error in diag, in words; or a
 * negative errno.
 */
int routes_verify(const struct config *config, enum rules_state *state,
    struct diag *diag) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sweeps old entries of questions out of the kernel's connection tracking, over
 * ctnetlink.
 *
 * A question that passes is in our zone in the original direction only; its
 * reply is in none.  Two entries of the same port and nameserver, one with our
 * zone and one without, therefore have the same reply, and the kernel drops the
 * packet that would make the second (__nf_conntrack_confirm() in
 * net/netfilter/nf_conntrack_core.c) for as long as the first one lives: 30
 * seconds, 120 after several questions.  When the rules come, the entries
 * without our zone are in the way, when they go, those with it.
 *
 * An entry is deleted if it is of UDP to port 53, from an address of this
 * machine, in no zone for its replies, and if a reply was seen.  One that still
 * waits for a reply is left alone: without it, NAT of the reply would be lost
 * and a firewall would not let it in.
 */
#ifndef NFDNS_RULES_CONNTRACK_H
#define NFDNS_RULES_CONNTRACK_H

#include <stddef.h>
#include <stdint.h>

struct conntrack;		/* owns netlink sockets */

enum conntrack_side {
	CONNTRACK_OUTSIDE,	/* entries without our zone */
	CONNTRACK_INSIDE,	/* entries with it */
};

/* 0 or a negative errno.  *conntrack is NULL on failure. */
int conntrack_open(struct conntrack **conntrack)
    __attribute__((warn_unused_result));
/* NULL is allowed. */
void conntrack_close(struct conntrack *conntrack);

/*
 * Starts a sweep, abandoning one that is under way.  0; or a negative errno:
 * the machine's addresses or the entries cannot be had.
 */
int conntrack_begin(struct conntrack *conntrack, enum conntrack_side side,
    uint16_t zone) __attribute__((warn_unused_result));

/*
 * As conntrack_begin(), but takes only the entries that waited for a reply when
 * the last sweep begun by conntrack_begin() saw them: those of later questions
 * are not touched.
 */
int conntrack_begin_again(struct conntrack *conntrack)
    __attribute__((warn_unused_result));

/*
 * Goes on with the sweep for limit_ms or a little longer.  0: it is over, or
 * there was none; -EAGAIN: it is to go on; another negative errno: it is over,
 * as this kernel has no ctnetlink (-EINVAL, -EOPNOTSUPP) or does not allow it.
 */
int conntrack_step(struct conntrack *conntrack, int limit_ms)
    __attribute__((warn_unused_result));

/* How many this sweep has deleted, and how many still wait for a reply. */
size_t conntrack_deleted(const struct conntrack *conntrack);
size_t conntrack_waiting(const struct conntrack *conntrack);

#endif

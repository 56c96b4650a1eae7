/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deletes old entries of questions from the kernel's connection tracking,
 * through ctnetlink.
 *
 * A question that passes is in our zone in the original direction only; its
 * reply is in none.  Two entries of the same port and nameserver, one with our
 * zone and one without, therefore have the same reply, and the kernel drops the
 * packet that would make the second (__nf_conntrack_confirm() in
 * net/netfilter/nf_conntrack_core.c) for as long as the first one lives: 30
 * seconds, 120 after several questions.  After the rules are installed, entries
 * without our zone do this harm; after they are removed, entries with it.
 *
 * A sweep deletes the entries of UDP from an address of this machine to port 53
 * that have no zone for their replies and have seen a reply.  It keeps an entry
 * that still waits for its reply: without the entry, NAT of the reply would be
 * lost and a firewall would drop it.
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
 * Starts a sweep, and abandons one that is under way.  0, or a negative errno
 * if the machine's addresses or the entries cannot be listed.
 */
int conntrack_begin(struct conntrack *conntrack, enum conntrack_side side,
    uint16_t zone) __attribute__((warn_unused_result));

/*
 * As conntrack_begin(), but deletes only entries that still waited for a reply
 * in the last sweep that conntrack_begin() started.  Entries of later questions
 * are kept.
 */
int conntrack_begin_again(struct conntrack *conntrack)
    __attribute__((warn_unused_result));

/*
 * Continues the sweep for limit_ms milliseconds of CPU time or a little longer:
 * a busy machine takes its time, but does not leave the entries undeleted.
 * Returns 0 if the sweep is over or there is none, -EAGAIN if there is more to
 * do.  With another negative errno it is over: this kernel has no ctnetlink
 * (-EINVAL, -EOPNOTSUPP) or does not allow it.
 */
int conntrack_step(struct conntrack *conntrack, int limit_ms)
    __attribute__((warn_unused_result));

/* How many entries this sweep has deleted, and how many wait for a reply. */
size_t conntrack_deleted(const struct conntrack *conntrack);
size_t conntrack_waiting(const struct conntrack *conntrack);

#endif

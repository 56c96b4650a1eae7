/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of chain "question", or "asked4" and "asked6", as the kernel goes through
 * them for one packet, without the kernel: for explanations.
 */
#ifndef NFDNS_RULES_WALK_H
#define NFDNS_RULES_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "rules/ruleset.h"

/*
 * A question over UDP, or the first packet of a TCP connection, to port 53.
 */
struct walk_packet {
	int family;			/* AF_INET or AF_INET6 */
	uint8_t protocol;		/* IPPROTO_UDP or IPPROTO_TCP */
	uid_t uid;			/* (uid_t)-1: the packet has no socket */
	gid_t gid;
	uint8_t source[16], destination[16];
	const char *in;			/* of a container, the interface that it comes in by;
					 * NULL: this machine sends it */
	bool foreign;			/* it comes from no address of this machine */
	uint32_t mark;			/* by the rules before; 0 at first */
};

/* What a rule is to such a packet. */
enum walk_match {
	WALK_NO,			/* *failed does not hold */
	WALK_YES,
	WALK_OVER_RATE,			/* only while the user is over user_rate */
	WALK_CGROUP,			/* only if the socket is in that cgroup */
};

/*
 * Compares one rule of the set with the packet.  *failed is the first condition
 * that does not hold, NULL unless WALK_NO; it belongs to the rule.
 */
enum walk_match walk_rule(const struct ruleset *set, const struct rule *rule,
    const struct walk_packet *packet, const struct condition **failed);

/* What a rule that it meets (WALK_YES) makes of its mark. */
void walk_mark(const struct rule *rule, struct walk_packet *packet);

#endif

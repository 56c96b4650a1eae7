/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other programs' chains, and what they do to packets of ours.
 *
 * This room reads the chains, rules and sets of all tables of nf_tables but one,
 * and takes a packet through them as nft_do_chain() of the kernel
 * (net/netfilter/nf_tables_core.c) would.  It changes nothing.  What it cannot
 * know of a packet (an expression that it does not know, a rate) makes a verdict
 * uncertain.  Chains of families netdev, bridge and arp are left out.
 */
#ifndef NFDNS_RULES_FIREWALL_FIREWALL_H
#define NFDNS_RULES_FIREWALL_FIREWALL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct firewall;

/*
 * Reads all chains but those of table "own" of family inet.  0; -EPERM without
 * CAP_NET_ADMIN; -EINTR if they change all the time; or another negative errno.
 */
int firewall_open(struct firewall **firewall, const char *own)
    __attribute__((warn_unused_result));
void firewall_close(struct firewall *firewall);	/* NULL: nothing */

/* A packet over UDP, or of TCP, without data as far as rules can see. */
struct firewall_packet {
	int family;			/* AF_INET or AF_INET6 */
	uint8_t protocol;		/* IPPROTO_UDP or IPPROTO_TCP */
	uint8_t source[16], destination[16];
	uint16_t source_port, destination_port;	/* host order; 0: unknown */
	uint8_t tcp_flags;
	uint32_t mark;
	bool mark_unknown;		/* a rule may have changed it */
	uint32_t ct_state;		/* FIREWALL_CT_; as "ct state" of nft */
	uid_t uid;			/* of its socket; (uid_t)-1: it has none */
	const char *in, *out;		/* interfaces; NULL: none at this hook */
};

enum {
	FIREWALL_CT_ESTABLISHED = 2,
	FIREWALL_CT_NEW = 8,
	FIREWALL_CT_UNTRACKED = 64,
};

#define FIREWALL_FIRST	INT_MIN
#define FIREWALL_LAST	INT_MAX

/* Base chains at one hook whose priorities are in this range. */
struct firewall_place {
	unsigned int hook;		/* enum nf_inet_hooks */
	int from, to;
};

enum firewall_effect {
	FIREWALL_PASSES,
	FIREWALL_DROPS,			/* or rejects */
	FIREWALL_REDIRECTS,		/* changes its destination */
	FIREWALL_QUEUES,		/* gives it to another program */
};

#define FIREWALL_NAME	128		/* as NFT_NAME_MAXLEN, of which it is half */

struct firewall_verdict {
	enum firewall_effect effect;
	bool certain;			/* false: may be */
	const char *family;		/* "ip", "ip6", "inet" */
	char table[FIREWALL_NAME], base[FIREWALL_NAME];
	char chain[FIREWALL_NAME];	/* of the rule; may be base */
	uint64_t handle;		/* of the rule; 0: the base chain's policy */
	int priority;			/* of the base chain */
	uint16_t port;			/* FIREWALL_REDIRECTS; 0: unknown, same */
};

/*
 * Takes a packet through the chains at a place.  *verdict is the first that does
 * not let it pass as it is, for certain if there is one.
 */
void firewall_judge(const struct firewall *firewall,
    const struct firewall_place *place, const struct firewall_packet *packet,
    struct firewall_verdict *verdict);

/*
 * The number of base chains at input and output that drop by default; the name
 * of one goes to "name" ("inet filter input").
 */
size_t firewall_drop_policies(const struct firewall *firewall, char *name,
    size_t size);

#endif

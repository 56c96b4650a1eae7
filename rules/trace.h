/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel tells of packets on their way through nf_tables: each chain,
 * rule and verdict that they meet (NFNLGRP_NFTRACE, nf_tables_trace.c).
 *
 * A table of its own, "nfdns-trace-PID", chooses them, with chains at the first and
 * the last place of the hooks output, postrouting, prerouting and input, and one
 * behind the NAT of output.  It goes with the object.  A process has one at a time.
 */
#ifndef NFDNS_RULES_TRACE_H
#define NFDNS_RULES_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_TABLE	"nfdns-trace-"	/* behind it the process */
#define TRACE_NAME	64		/* of tables and chains; longer ones are cut */

/* Packets from and to this port, of TCP only those with SYN. */
struct trace_port {
	uint8_t protocol;		/* IPPROTO_UDP or IPPROTO_TCP */
	uint16_t port;			/* of a socket of ours; host order */
};

struct trace_chain {
	const char *family;		/* "ip", "ip6", "inet", ...; static text */
	char table[TRACE_NAME], name[TRACE_NAME];
	bool base, own;			/* own: of such a table, or RULES_TABLE */
	unsigned int hook;		/* of a base chain: enum nf_inet_hooks */
	int priority;
};

/* Addresses are in network order, the first 4 octets for IPv4; ports in host order. */
struct trace_packet {
	int family;
	uint8_t protocol;
	uint8_t source[16], destination[16];
	uint16_t source_port, destination_port;
};

/* A value. */
struct trace_event {
	uint32_t id;			/* the packet's while it is in one hook */
	struct trace_chain chain;
	bool enters;			/* the first event in a base chain: */
	struct trace_packet packet;	/* as it is there, if it could be read */
	uint64_t handle;		/* of the rule; 0: the base chain's policy */
	uint32_t verdict;		/* NF_DROP, NF_QUEUE, ... or NFT_CONTINUE, ... */
	uint32_t mark;			/* of the packet, behind the rule */
};

struct trace;

/*
 * Puts the table in and listens.  0; -EPERM without CAP_NET_ADMIN; or another
 * negative errno.
 */
int trace_open(struct trace **trace, const struct trace_port *ports,
    size_t count) __attribute__((warn_unused_result));
void trace_close(struct trace *trace);	/* NULL: nothing */

/*
 * The next event of what came until now, in the order of the packets' travel;
 * other programs' traces are among them.  0; -EAGAIN: no more; -ENOBUFS: some were
 * lost; or another negative errno.
 */
int trace_next(struct trace *trace, struct trace_event *event)
    __attribute__((warn_unused_result));

#endif

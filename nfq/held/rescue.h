/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel drops packets that wait in a queue when any program in the network
 * namespace removes a base chain, or when their outgoing interface goes down
 * (nf_queue_nf_hook_drop(), nfqnl_dev_drop()).  The client still waits, so its
 * answer is sent as a packet of its own: by a raw socket, or, for a daemon without
 * CAP_NET_RAW, by a datagram that carries it.  Such a datagram has the canary's
 * mark, so that the rules queue it, and goes to this machine's own address; the
 * queue thread gives it back to the kernel as the packet that it carries.
 */
#ifndef NFDNS_NFQ_HELD_RESCUE_H
#define NFDNS_NFQ_HELD_RESCUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORWARD_RAWS	2	/* IPv4, IPv6 */

/*
 * A raw socket for packets with their IP headers, which get this mark.  Needs
 * CAP_NET_RAW and CAP_NET_ADMIN.  The descriptor, or a negative errno.
 */
int rescue_open(int family, uint32_t mark) __attribute__((warn_unused_result));

/*
 * Makes a UDP socket, of one family and with no address yet, one for datagrams
 * that carry packets.  mark: the canary's (ruleset_canary_mark()).  Needs
 * CAP_NET_ADMIN.  0 or a negative errno.
 */
int rescue_carry(int fd, uint32_t mark) __attribute__((warn_unused_result));

/*
 * Sends a whole IP packet by the socket of its family, raw or not, without
 * waiting.  scope_id: the interface of a link-local destination.  0 or a negative
 * errno: -EMSGSIZE, it is too long to be carried.
 */
int rescue_send(const int raw[static FORWARD_RAWS], const uint8_t *packet,
    size_t length, uint32_t scope_id) __attribute__((warn_unused_result));

struct rescue_packet {
	const uint8_t *octets;		/* part of the payload */
	size_t length;
};

/*
 * Whether that payload of a UDP datagram of this family (AF_INET, AF_INET6)
 * carries a UDP packet of the same family.  Who may send such datagrams is for the
 * caller to check: what is in them leaves the queue unread.
 */
bool rescue_carried(struct rescue_packet *packet, int family,
    const uint8_t *payload, size_t length);

#endif

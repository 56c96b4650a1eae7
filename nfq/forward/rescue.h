/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel drops packets that wait in a queue when any program in the network
 * namespace removes a base chain, or when their outgoing interface goes down
 * (nf_queue_nf_hook_drop(), nfqnl_dev_drop()).  The client still waits, so its
 * answer is sent as a packet of its own.
 */
#ifndef NFDNS_NFQ_FORWARD_RESCUE_H
#define NFDNS_NFQ_FORWARD_RESCUE_H

#include <stddef.h>
#include <stdint.h>

#define FORWARD_RAWS	2	/* IPv4, IPv6 */

/*
 * A raw socket for packets with their IP headers, which get this mark.  Needs
 * CAP_NET_RAW and CAP_NET_ADMIN.  The descriptor, or a negative errno.
 */
int rescue_open(int family, uint32_t mark) __attribute__((warn_unused_result));

/*
 * Sends a whole IP packet, without waiting.  scope_id: the interface of a
 * link-local destination.  0 or a negative errno.
 */
int rescue_send(const int raw[static FORWARD_RAWS], const uint8_t *packet,
    size_t length, uint32_t scope_id) __attribute__((warn_unused_result));

#endif

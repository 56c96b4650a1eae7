/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nfdns-sockets opens IP sockets for nfdnsd, so that nfdnsd, which has
 * CAP_NET_ADMIN, opens none itself.  It runs as nfdnsd's user, whose packets
 * the rules bypass; it has no capability, and opens only what
 * sockets_request_permit() permits.
 *
 * This room holds nfdns-sockets and the client side of it.  It parses no DNS
 * and does not know what the sockets are used for.
 */
#ifndef NFDNS_NFQ_SOCKETS_SERVER_H
#define NFDNS_NFQ_SOCKETS_SERVER_H

/*
 * Serves clients of the listener (AF_UNIX, SOCK_SEQPACKET) that run as this
 * process's user or as root.  Returns a negative errno if it cannot go on.
 */
int sockets_run(int listener);

#endif

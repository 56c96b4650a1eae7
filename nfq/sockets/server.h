/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of its own that opens sockets of the Internet, so that nfdnsd,
 * which has CAP_NET_ADMIN, needs to open none.  It runs as the same user, whose
 * packets the rules let by, has no capability, and gives away nothing but what
 * sockets_request_permit() permits.
 */
#ifndef NFDNS_NFQ_SOCKETS_SERVER_H
#define NFDNS_NFQ_SOCKETS_SERVER_H

/*
 * Serves whoever connects to the listener (AF_UNIX, SOCK_SEQPACKET) and has our
 * user, or is root.  Returns a negative errno when it cannot go on.
 */
int sockets_run(int listener);

#endif

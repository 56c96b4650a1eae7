/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the socket of a request, in nfdns-sockets or in nfdnsd itself. */
#ifndef NFDNS_NFQ_SOCKETS_OPEN_H
#define NFDNS_NFQ_SOCKETS_OPEN_H

#include <stdint.h>

#include "nfq/sockets/message.h"

/*
 * Returns a non-blocking socket, or a negative errno.  The request is of any
 * kind but SOCKETS_RESTRICT.  A connection may still be in progress.  Its
 * packets carry "mark", which needs CAP_NET_ADMIN; 0 needs no privilege.
 *
 * A connection without a source is reset when it is closed.
 *
 * A connection with a source gets that source address, so that routing rules by
 * source apply to it as to the client.  If the kernel would choose another
 * source for that destination, something else routed the client's packet
 * (SO_BINDTODEVICE, a rule by user); then the connection is also bound to the
 * request's device.  Otherwise it is not, since a bound socket does not follow
 * a later DNAT to another interface.
 */
int sockets_open(const struct sockets_request *request, uint32_t mark)
    __attribute__((warn_unused_result));

#endif

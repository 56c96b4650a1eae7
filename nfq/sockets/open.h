/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens what a request asks for: in the process for that, or in our own. */
#ifndef NFDNS_NFQ_SOCKETS_OPEN_H
#define NFDNS_NFQ_SOCKETS_OPEN_H

#include <stdint.h>

#include "nfq/sockets/message.h"

/*
 * The socket, which never blocks, or a negative errno.  A connection may be
 * under way; its packets carry "mark", unless that is 0 and no privilege is
 * needed.  Of any kind but SOCKETS_RESTRICT.
 *
 * A connection with a source has that address, so routing rules by source hold
 * for it as for the client.  If the kernel would give a socket of ours another
 * address on the way there, the client was routed by something else than the
 * destination (SO_BINDTODEVICE, a rule by user): then the connection is bound
 * to the request's device, too.  Otherwise it is not, since a bound socket does
 * not follow a later DNAT to another interface.
 */
int sockets_open(const struct sockets_request *request, uint32_t mark)
    __attribute__((warn_unused_result));

#endif

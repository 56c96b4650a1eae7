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
 */
int sockets_open(const struct sockets_request *request, uint32_t mark)
    __attribute__((warn_unused_result));

#endif

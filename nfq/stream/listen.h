/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The listeners where intercepted connections end, one for each version of IP:
 * 127.0.0.1 comes first, ::1 second.  They are the supervisor's, so that none
 * is refused while workers change.
 */
#ifndef NFDNS_NFQ_STREAM_LISTEN_H
#define NFDNS_NFQ_STREAM_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "nfq/sockets/message.h"
#include "policy/config/config.h"

#define STREAM_LISTENERS 2

/* The socket that is to listen: sockets_open() has it. */
struct sockets_request stream_listen_request(
    size_t which, const struct config *config);

/*
 * Has it listen, transparent (ip(7), IP_TRANSPARENT): what it accepts has the
 * nameserver's address.  Its packets carry the mark of answers, so that they
 * are not tracked.  0 or a negative errno.
 */
int stream_listen_begin(int fd, size_t which, const struct config *config)
    __attribute__((warn_unused_result));

/* Whether a predecessor's listener stands where the config wants one. */
bool stream_listen_is_there(int fd, size_t which, const struct config *config);

#endif

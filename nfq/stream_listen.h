/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The listeners where intercepted connections end, one for each version of IP.
 * They are the supervisor's, so that none is refused while workers change.
 */
#ifndef NFDNS_NFQ_STREAM_LISTEN_H
#define NFDNS_NFQ_STREAM_LISTEN_H

#include "policy/config.h"
#include "resolver/diag.h"

#define STREAM_LISTENERS 2

/*
 * Opens them on 127.0.0.1 and ::1, transparent (ip(7), IP_TRANSPARENT): what
 * they accept has the nameserver's address.  Their packets carry the mark of
 * answers, so that they are not tracked.  An fd is -1 where the kernel has no
 * IPv6.  0, or a negative errno with an error in diag and none open.
 */
int stream_listen(int fds[static STREAM_LISTENERS], const struct config *config,
    struct diag *diag) __attribute__((warn_unused_result));
void stream_listen_close(int fds[static STREAM_LISTENERS]);

#endif

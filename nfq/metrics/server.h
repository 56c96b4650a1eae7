/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The work of nfdns-metrics: takes connections, and answers them (http.h).  What
 * its clients do costs the others nothing: a connection that is in the way is
 * closed (peers.h), and the daemon's processes have nothing to do with any.
 */
#ifndef NFDNS_NFQ_METRICS_SERVER_H
#define NFDNS_NFQ_METRICS_SERVER_H

#include "nfq/metrics/http.h"

/*
 * Returns only if it cannot go on: a negative errno.  Adds 1 to "alive", an
 * eventfd, each second.
 */
int metrics_server_run(int listener, int alive, struct http *http,
    struct peers *peers);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Istio's NameTable as istiod pushes it: xDS, state of the world, over an
 * aggregated stream (ADS; envoyproxy.io, "xDS REST and gRPC protocol").
 */
#ifndef NFDNS_RESOLVER_FEED_XDS_H
#define NFDNS_RESOLVER_FEED_XDS_H

#include "resolver/feed/feed.h"

/*
 * Connects, and connects again, until host->stop_fd is readable.  Returns 0, or
 * a negative errno if it cannot even begin or poll(2) fails.  Ignores SIGPIPE
 * from then on: OpenSSL's writes raise it.
 *
 * Opens sockets of AF_INET, AF_INET6 and AF_NETLINK (this machine's addresses,
 * and changes of them and of routes), the files of the config, and what c-ares
 * reads: /etc/resolv.conf, hosts, host.conf, nsswitch.conf.
 */
int xds_run(const struct feed_config *config, const struct feed_host *host)
    __attribute__((warn_unused_result));

#endif

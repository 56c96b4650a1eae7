/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The objects of a Kubernetes API server, by list and watch: what is offered is
 * a text of the format "kubernetes".  See reflector.h for the protocol.
 */
#ifndef NFDNS_RESOLVER_FEED_KUBERNETES_H
#define NFDNS_RESOLVER_FEED_KUBERNETES_H

#include "resolver/feed/feed.h"

/*
 * Connects, and connects again, until host->stop_fd is readable.  Returns 0, or
 * a negative errno if it cannot even begin (no memory) or go on (poll(2)).
 */
int kubernetes_run(const struct feed_config *config,
    const struct feed_host *host) __attribute__((warn_unused_result));

#endif

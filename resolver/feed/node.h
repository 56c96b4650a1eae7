/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How this machine presents itself to istiod: envoy.config.core.v3.Node. */
#ifndef NFDNS_RESOLVER_FEED_NODE_H
#define NFDNS_RESOLVER_FEED_NODE_H

#include <netinet/in.h>
#include <stdint.h>

#include "resolver/feed/feed.h"
#include "resolver/feed/protobuf_writer.h"

/* What is known of the machine; a text may be "". */
struct node_machine {
	char name[64];			/* its host name, without domain */
	char ipv4[INET_ADDRSTRLEN];
	char ipv6[INET6_ADDRSTRLEN];
};

/*
 * Reads the host name and, unless node->ip says which, the first address of
 * each family that is neither loopback nor link-local.
 */
void node_machine_read(const struct feed_node *node,
    struct node_machine *machine);

/*
 * Writes the node as a field of the writer's message.
 *
 * istiod looks an event about a workload up by the *first* of a connection's
 * INSTANCE_IPS, and pushes to one connection only.  With this machine's own
 * address first, the feed could take a push that is meant for the machine's
 * Envoy.  So an address of documentation (RFC 5737, RFC 3849) of the same
 * family stands before it.
 */
void node_write(struct protobuf_writer *writer, uint32_t field,
    const struct feed_node *node, const struct node_machine *machine);

#endif

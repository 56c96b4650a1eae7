/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two messages of xDS in its state-of-the-world form (data-plane-api,
 * envoy/service/discovery/v3/discovery.proto), for one type: NameTable.
 */
#ifndef NFDNS_RESOLVER_FEED_DISCOVERY_H
#define NFDNS_RESOLVER_FEED_DISCOVERY_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/feed/node.h"
#include "resolver/feed/protobuf_writer.h"
#include "resolver/text/span.h"

#define DISCOVERY_PATH "/envoy.service.discovery.v3.AggregatedDiscoveryService" \
	"/StreamAggregatedResources"
#define DISCOVERY_NAME_TABLE \
	"type.googleapis.com/istio.networking.nds.v1.NameTable"

/* All are borrowed; versions and nonces are opaque octets. */
struct discovery_request {
	const struct feed_node *node;	/* of the first request; then NULL */
	const struct node_machine *machine;
	struct span version;		/* accepted last; empty: none */
	struct span nonce;		/* of what this answers; empty: nothing */
	const char *refusal;		/* of that answer; NULL: it is accepted */
};

/* Resource names are never written: NDS has none, and new ones cost a push. */
void discovery_request_write(struct protobuf_writer *writer,
    const struct discovery_request *request);

/* Borrows from the message. */
struct discovery_response {
	struct span version;
	struct span type;
	struct span nonce;
	struct span table;		/* the last NameTable's octets */
	size_t tables;			/* NameTables among the resources */
	size_t others;			/* of other types */
	size_t broken;			/* no resources at all */
};

/* Returns 0, or -EBADMSG if the octets are no such message. */
int discovery_response_read(const void *octets, size_t length,
    struct discovery_response *response) __attribute__((warn_unused_result));

#endif

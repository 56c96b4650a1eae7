/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtual machine of a mesh, as its files say: cluster.env, mesh.yaml,
 * istio-token, root-cert.pem and hosts.
 */
#ifndef NFDNS_NFQ_CLI_JOIN_WORKLOAD_H
#define NFDNS_NFQ_CLI_JOIN_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfq/cli/join/env.h"
#include "nfq/cli/join/place.h"
#include "resolver/feed/feed.h"
#include "resolver/text/diag.h"

#define WORKLOAD_MAX_ADDRESSES	16	/* of istiod */
#define WORKLOAD_MAX_LABELS	64	/* FEED_CONFIG_MAX_LABELS */

/* Start from zeros; owns everything. */
struct workload {
	char *server;			/* istiod's HOST:PORT */
	char *addresses[WORKLOAD_MAX_ADDRESSES];
	size_t address_count;
	struct feed_node node;
	char *agent;			/* where Istio's agent keeps its pair */
	bool dns_capture;		/* the agent takes port 53, too */
	struct input token;		/* without the end of its line */
	int64_t token_end;		/* seconds since 1970; 0: it has none */
	struct input roots;
	struct env env, mesh;		/* as they were read */
	struct input env_file, mesh_file, hosts;
};

/*
 * Reads all of them.  Every error goes to diag with file and line; returns
 * whether there was none.  workload_free() in every case.
 */
bool workload_read(struct workload *workload, const char *directory,
    struct diag *diag) __attribute__((warn_unused_result));
void workload_free(struct workload *workload);

/* The parts that take octets of one file, for tests; errors go to diag. */
void workload_read_hosts(struct workload *workload, const char *path,
    const char *text, size_t length, struct diag *diag);

/* Seconds since 1970; 0: it does not say. */
struct token_times {
	int64_t begin, end;
};

/* NULL, or what is wrong with the token. */
const char *workload_token_times(struct token_times *times, const char *token,
    size_t length);

#endif

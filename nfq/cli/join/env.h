/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What "nfdns join" makes of the files that "istioctl x workload entry
 * configure" writes (istioctl/pkg/workload/workload.go in istio/istio).
 *
 * This room reads these files, or a kubeconfig, says what is to be written, and
 * writes and removes it whole or not at all.  The files read may be another
 * user's: they are input like any other.  The room prints nothing and asks
 * nothing; it starts units only where it is told to.
 *
 * This header: variables, of cluster.env and of mesh.yaml.
 */
#ifndef NFDNS_NFQ_CLI_JOIN_ENV_H
#define NFDNS_NFQ_CLI_JOIN_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "resolver/text/diag.h"

#define ENV_MAX_ENTRIES	256
#define ENV_MAX_KEY	128	/* octets */
#define ENV_MAX_VALUE	16384

struct env_entry {
	char *key;
	char *value;
	unsigned int line;
};

/* Start from zeros; owns its entries. */
struct env {
	const char *path;		/* for messages; borrowed */
	struct env_entry *entries;
	size_t count;
};

/*
 * Adds copies of key and value, which end with NUL.  Returns whether there was
 * room; if not, an error is in diag.
 */
bool env_add(struct env *env, const char *key, const char *value,
    unsigned int line, struct diag *diag) __attribute__((warn_unused_result));

/* The last entry of that key, as a shell sees it; NULL if there is none. */
const struct env_entry *env_find(const struct env *env, const char *key);
void env_free(struct env *env);

/*
 * Reads cluster.env: lines KEY=VALUE whose value is quoted as a shell's words
 * are.  What only a shell could work out ($, `, ;, blanks) is an error with its
 * line.  Every error goes to diag; the entries without one are added.
 */
void cluster_env_read(struct env *env, const char *text, size_t length,
    struct diag *diag);

/*
 * Reads mesh.yaml: defaultConfig.proxyMetadata into env, and
 * defaultConfig.discoveryAddress as the entry MESH_YAML_SERVER, which no
 * variable's name can be.  Other keys are the agent's and ignored.
 */
#define MESH_YAML_SERVER "discoveryAddress:"
void mesh_yaml_read(struct env *env, const char *text, size_t length,
    struct diag *diag);

#endif

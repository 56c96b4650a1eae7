/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kubeconfig for nfdns-feed, made of a person's: of one context (NULL: the current)
 * alone, with the certificates and keys in it that the other one names as
 * files, since nfdns-feed cannot read a person's home directory.
 */
#ifndef NFDNS_NFQ_CLI_JOIN_KUBECONFIG_COPY_H
#define NFDNS_NFQ_CLI_JOIN_KUBECONFIG_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "resolver/text/diag.h"

/* Start from zeros; owns everything. */
struct kubeconfig_copy {
	char *text;			/* holds keys */
	size_t length;
	char *server;			/* "https://HOST:PORT" */
	char *token_file;		/* stays a file, since it rotates; or NULL */
	bool insecure;			/* insecure-skip-tls-verify */
	char *files[3];			/* that are copied into it; NULL: none */
};

/* Returns whether all is well; if not, an error is in diag. */
bool kubeconfig_copy_make(struct kubeconfig_copy *copy, const char *path,
    const char *context, struct diag *diag) __attribute__((warn_unused_result));
void kubeconfig_copy_free(struct kubeconfig_copy *copy);

/*
 * What a cluster has to have, as YAML for kubectl apply: an account for the feed, its
 * rights and its token; and, as comments, the commands that make a kubeconfig of them.
 */
void kubeconfig_print_manifest(FILE *out);

#endif

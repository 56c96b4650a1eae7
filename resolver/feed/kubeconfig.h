/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How to reach an API server: a kubeconfig, as kubectl reads it
 * (k8s.io/client-go tools/clientcmd/api/v1/types.go), or what a pod is given.
 * Plug-ins that make credentials (exec, auth-provider) are refused: this
 * program starts no others.
 */
#ifndef NFDNS_RESOLVER_FEED_KUBECONFIG_H
#define NFDNS_RESOLVER_FEED_KUBECONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "resolver/feed/tls.h"
#include "resolver/clock.h"

/* Owns all of its texts, any of which may be NULL. */
struct kube_access {
	char *server;			/* "https://HOST:PORT", no "/" at its end */
	char *server_name;		/* in its certificate, instead of HOST */
	char *proxy;			/* "http://..."; a tunnel is asked for */
	bool insecure;			/* its certificate is not verified */
	struct pem_text roots;		/* none: the system's */
	struct pem_text cert;
	struct pem_text key;
	char *token;
	char *token_file;		/* counts before the token */
};

/*
 * Reads the text of a kubeconfig; "path" is for messages, and the files it
 * names are relative to it; "context" NULL: its current one.  Returns 0;
 * -EINVAL and the reason; -ENOMEM.  The text is borrowed for the call.
 */
int kubeconfig_read(struct kube_access *access, const char *path,
    const char *text, size_t length, const char *context,
    char why[static FEED_TEXT])
    __attribute__((warn_unused_result));

/* The same of a file; also -EINVAL if that cannot be read. */
int kubeconfig_load(struct kube_access *access, const char *path,
    const char *context, char why[static FEED_TEXT]) __attribute__((warn_unused_result));

/*
 * What a pod has: the service's address from the environment, which may be
 * NULL, and the token and roots in a directory, KUBECONFIG_POD.
 */
#define KUBECONFIG_POD	"/var/run/secrets/kubernetes.io/serviceaccount"

int kubeconfig_in_cluster(struct kube_access *access, const char *host,
    const char *port, const char *directory, char why[static FEED_TEXT])
    __attribute__((warn_unused_result));

/* Overwrites keys and tokens. */
void kube_access_free(struct kube_access *access);

/*
 * What requests are authorised with, as it is now: the kubeconfig and the token
 * are read anew, since both change.
 */

/* Files that cannot be read are tried again after that. */
#define KUBE_CREDENTIALS_RETRY_MS	5000

struct kube_credentials {
	const char *kubeconfig;		/* borrowed; NULL: a pod's */
	bool loaded;			/* the three below are good */
	struct kube_access access;
	char *token;			/* never NULL once loaded */
	bool token_read;		/* from its file, at least once */
	monotime_t due;			/* not before, after a failure */
	const char *warning;		/* static; the owner clears it */
	bool warned;
	char error[FEED_TEXT];		/* printable; "" while all is well */
};

void kube_credentials_init(struct kube_credentials *credentials,
    const char *kubeconfig);

/*
 * Reads all of it anew.  If that fails, what was read before stays.  Returns
 * whether there is something to send requests with; if not, credentials->error
 * says why.
 */
bool kube_credentials_refresh(struct kube_credentials *credentials,
    monotime_t now);

void kube_credentials_free(struct kube_credentials *credentials);

#endif

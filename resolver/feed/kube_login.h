/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What requests are authorised with, as it is now: the kubeconfig and the token
 * are read anew, since both change.
 */
#ifndef NFDNS_RESOLVER_FEED_KUBE_LOGIN_H
#define NFDNS_RESOLVER_FEED_KUBE_LOGIN_H

#include "resolver/clock.h"
#include "resolver/feed/kubeconfig.h"

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

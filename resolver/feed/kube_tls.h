/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Roots, client certificate and key of a kube_access, read anew for each
 * request, since files of them rotate.
 */
#ifndef NFDNS_RESOLVER_FEED_KUBE_TLS_H
#define NFDNS_RESOLVER_FEED_KUBE_TLS_H

#include <openssl/ssl.h>

#include "resolver/feed/kubeconfig.h"

/* Start from zeros. */
struct kube_tls {
	STACK_OF(X509) *roots;		/* NULL: the system's */
	STACK_OF(X509) *chain;		/* the client's, leaf first; or NULL */
	EVP_PKEY *key;
	int64_t begin, end;		/* of the leaf; 0: there is none */
};

/*
 * Reads all of them; what was there before goes only if that succeeds.  Returns
 * 0; -EINVAL and the reason, also if certificate and key are not of one another
 * (they may be in the middle of a rotation); -ENOMEM.
 */
int kube_tls_load(struct kube_tls *tls, const struct kube_access *access,
    char why[static FEED_TEXT]) __attribute__((warn_unused_result));

/* Puts them into a context that has none.  Whether OpenSSL took them. */
bool kube_tls_apply(const struct kube_tls *tls, SSL_CTX *context);

void kube_tls_free(struct kube_tls *tls);

#endif

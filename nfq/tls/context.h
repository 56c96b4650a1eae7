/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all connections over TLS share: the authorities, the rules of TLS, and
 * sessions that can be resumed.
 */
#ifndef NFDNS_NFQ_TLS_CONTEXT_H
#define NFDNS_NFQ_TLS_CONTEXT_H

#include <openssl/ssl.h>

#include "nfq/tls/message.h"

#define TLS_SESSIONS	64

/* Sessions are resumed only with the peer whose certificate was verified. */
struct tls_session {
	struct tls_peer peer;
	SSL_SESSION *session;		/* NULL: none */
};

struct tls_context {
	SSL_CTX *ssl;
	struct tls_session sessions[TLS_SESSIONS];
	unsigned int next;		/* the place that is overwritten */
};

/* A connection as OpenSSL's callbacks find it: SSL_get_app_data(). */
struct tls_verified {
	struct tls_context *context;
	struct tls_peer peer;
	char why[TLS_TEXT];		/* why its certificate is refused; or "" */
};

/*
 * TLS 1.2 at least, the server's certificate checked against the authorities in
 * the PEM text.  0; -ENODATA: there is no certificate in it that can be used;
 * -ENOMEM.
 */
int tls_context_open(struct tls_context *context, const char *pem,
    size_t length) __attribute__((warn_unused_result));
void tls_context_close(struct tls_context *context);

/*
 * A connection that is not yet bound to a socket; "verified" outlives it.  NULL:
 * no memory.
 */
SSL *tls_context_connection(struct tls_context *context,
    struct tls_verified *verified);

/* Why a handshake failed, in words: text. */
enum tls_status tls_context_explain(const SSL *ssl, int result, int saved_errno,
    const struct tls_verified *verified, char text[static TLS_TEXT]);

#endif

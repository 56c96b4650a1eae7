/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/tls/context.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "nfq/tls/refusal.h"

#define SESSION_S	3600		/* a session is resumed at most so long */

static int
add_authorities(SSL_CTX *ssl, const char *pem, size_t length)
{
	BIO *bio = BIO_new_mem_buf(pem, (int)length);
	X509_STORE *store = SSL_CTX_get_cert_store(ssl);
	unsigned int count = 0;
	X509 *one;

	if (bio == NULL)
		return -ENOMEM;
	while ((one = PEM_read_bio_X509_AUX(bio, NULL, NULL, NULL)) != NULL) {
		count += X509_STORE_add_cert(store, one) == 1;
		X509_free(one);
	}
	BIO_free(bio);
	ERR_clear_error();
	return count > 0 ? 0 : -ENODATA;
}

static bool
same_peer(const struct tls_peer *a, const struct tls_peer *b)
{
	return a->family == b->family && a->port == b->port &&
	    memcmp(a->address, b->address, sizeof(a->address)) == 0 &&
	    strcmp(a->name, b->name) == 0;
}

/* The place of a peer's session; NULL: it has none. */
static struct tls_session *
session_of(struct tls_context *context, const struct tls_peer *peer)
{
	for (size_t i = 0; i < TLS_SESSIONS; i++)
		if (context->sessions[i].session != NULL &&
		    same_peer(&context->sessions[i].peer, peer))
			return &context->sessions[i];
	return NULL;
}

/* OpenSSL's: returns 1, since the session is ours now. */
static int
keep_session(SSL *ssl, SSL_SESSION *session)
{
	const struct tls_verified *v = SSL_get_app_data(ssl);
	struct tls_context *context = v->context;
	struct tls_session *place = session_of(context, &v->peer);

	if (place == NULL)
		place = &context->sessions[context->next++ % TLS_SESSIONS];
	SSL_SESSION_free(place->session);
	*place = (struct tls_session){ .peer = v->peer, .session = session };
	return 1;
}

/* A session is good for as long as its certificate is. */
static bool
is_current(SSL_SESSION *session)
{
	const X509 *leaf = SSL_SESSION_get0_peer(session);

	return SSL_SESSION_is_resumable(session) && leaf != NULL &&
	    X509_cmp_current_time(X509_get0_notAfter(leaf)) > 0 &&
	    (int64_t)time(NULL) - SSL_SESSION_get_time(session) < SESSION_S;
}

/* Each is used once (RFC 8446 appendix C.4). */
static void
resume(struct tls_context *context, SSL *ssl, const struct tls_peer *peer)
{
	struct tls_session *place = session_of(context, peer);

	if (place == NULL)
		return;
	if (is_current(place->session))
		(void)SSL_set_session(ssl, place->session);
	SSL_SESSION_free(place->session);
	place->session = NULL;
}

static int
verified(int good, X509_STORE_CTX *store)
{
	const SSL *ssl = X509_STORE_CTX_get_ex_data(store,
	    SSL_get_ex_data_X509_STORE_CTX_idx());
	struct tls_verified *v = SSL_get_app_data(ssl);

	if (!good && v->why[0] == '\0')
		tls_refusal_text(store, &v->peer, v->why);
	return good;
}

static bool
set_rules(SSL_CTX *ssl)
{
	SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, verified);
	(void)SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE |
	    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
	(void)SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_CLIENT |
	    SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(ssl, keep_session);
	(void)SSL_CTX_set_options(ssl, SSL_OP_NO_COMPRESSION |
	    SSL_OP_NO_RENEGOTIATION);
	/* RFC 8310 section 5, RFC 9325 section 3.1.1. */
	return SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION) == 1;
}

int
tls_context_open(struct tls_context *context, const char *pem, size_t length)
{
	int error = -ENOMEM;

	*context = (struct tls_context){ .ssl =
		SSL_CTX_new(TLS_client_method()) };
	if (context->ssl != NULL && set_rules(context->ssl))
		error = add_authorities(context->ssl, pem, length);
	if (error < 0)
		tls_context_close(context);
	return error;
}

void
tls_context_close(struct tls_context *context)
{
	for (size_t i = 0; i < TLS_SESSIONS; i++)
		SSL_SESSION_free(context->sessions[i].session);
	SSL_CTX_free(context->ssl);
	*context = (struct tls_context){ .ssl = NULL };
}

/*
 * A name stands in the subject's alternative names, or it does not count (RFC
 * 8310 section 8.1); so it is for an address.
 */
static bool
set_peer(SSL *ssl, const struct tls_peer *peer)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);

	X509_VERIFY_PARAM_set_hostflags(param,
	    X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
	    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (peer->name[0] == '\0')
		return X509_VERIFY_PARAM_set1_ip(param, peer->address,
		    peer->family == AF_INET ? 4 : 16) == 1;
	/* SSL_set_tlsext_host_name(), whose macro drops the const. */
	return X509_VERIFY_PARAM_set1_host(param, peer->name, 0) == 1 &&
	    SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME,
	    TLSEXT_NAMETYPE_host_name, (void *)(uintptr_t)peer->name) == 1;
}

SSL *
tls_context_connection(struct tls_context *context, struct tls_verified *v)
{
	SSL *ssl = SSL_new(context->ssl);

	v->context = context;
	v->why[0] = '\0';
	if (ssl == NULL || !SSL_set_app_data(ssl, v) ||
	    !set_peer(ssl, &v->peer)) {
		SSL_free(ssl);
		ERR_clear_error();
		return NULL;
	}
	resume(context, ssl, &v->peer);
	ERR_clear_error();
	return ssl;
}

enum tls_status
tls_context_explain(const SSL *ssl, int result, int saved_errno,
    const struct tls_verified *v, char text[static TLS_TEXT])
{
	const int what = SSL_get_error(ssl, result);
	const unsigned long code = ERR_peek_last_error();
	const char *reason = ERR_reason_error_string(code);

	ERR_clear_error();
	if (v->why[0] != '\0') {
		memcpy(text, v->why, TLS_TEXT);
		return TLS_CERTIFICATE;
	}
	if (what == SSL_ERROR_SYSCALL && saved_errno != 0) {
		(void)snprintf(text, TLS_TEXT, "%s", strerror(saved_errno));
		return TLS_ENDED;
	}
	if (what == SSL_ERROR_ZERO_RETURN || what == SSL_ERROR_SYSCALL ||
	    ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
		(void)snprintf(text, TLS_TEXT, "the server closed the "
		    "connection");
		return TLS_ENDED;
	}
	(void)snprintf(text, TLS_TEXT, "TLS: %s", reason != NULL ? reason :
	    "unknown error");
	return TLS_FAILED;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/tls/message.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#define SESSION_S	3600		

#define NAMES_SHOWN	3		/* of a certificate */
#define NAME_SHOWN	40		/* octets of each */

/* Why a server's certificate is refused, for a person who has to act on it. */

static void
address_text(const uint8_t *octets, int length, char text[static TLS_TEXT])
{
	if ((length != 4 && length != 16) || inet_ntop(length == 4 ? AF_INET :
	    AF_INET6, octets, text, TLS_TEXT) == NULL)
		(void)snprintf(text, TLS_TEXT, "?");
}

/* One of the names of a certificate; what stands there is the server's. */
static bool
name_text(const GENERAL_NAME *name, char text[static TLS_TEXT])
{
	const ASN1_STRING *octets;
	int type;
	void *value = GENERAL_NAME_get0_value(name, &type);

	if (value == NULL || (type != GEN_DNS && type != GEN_IPADD))
		return false;
	octets = value;
	if (type == GEN_IPADD)
		address_text(ASN1_STRING_get0_data(octets),
		    ASN1_STRING_length(octets), text);
	else
		(void)tls_text(text, ASN1_STRING_get0_data(octets),
		    (size_t)ASN1_STRING_length(octets));
	return true;
}

/* "a.example, b.example and 7 more". */
static void
names_of(const X509 *leaf, char *text, size_t size)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(leaf, NID_subject_alt_name,
	    NULL, NULL);
	const int count = sk_GENERAL_NAME_num(names);
	char one[TLS_TEXT];
	int shown = 0, more = 0;
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < count; i++) {
		if (!name_text(sk_GENERAL_NAME_value(names, i), one))
			continue;
		if (shown == NAMES_SHOWN) {
			more++;
			continue;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%.*s",
		    shown++ > 0 ? ", " : "", NAME_SHOWN, one);
	}
	if (more > 0)
		(void)snprintf(text + used, size - used, " and %d more", more);
	if (shown == 0)
		(void)snprintf(text, size, "no name");
	GENERAL_NAMES_free(names);
}

static void
wrong_name(const X509 *leaf, const struct tls_peer *peer,
    char text[static TLS_TEXT])
{
	char names[NAMES_SHOWN * (NAME_SHOWN + 2) + 24], wanted[TLS_TEXT];

	names_of(leaf, names, sizeof(names));
	if (peer->name[0] != '\0')
		(void)snprintf(wanted, TLS_TEXT, "%s", peer->name);
	else
		address_text(peer->address, peer->family == AF_INET ? 4 : 16,
		    wanted);
	(void)snprintf(text, TLS_TEXT, "certificate is for %s, not %.48s",
	    names, wanted);
}

static void
wrong_time(const ASN1_TIME *when, const char *what,
    char text[static TLS_TEXT])
{
	struct tm tm = { .tm_mday = 1 };
	char day[32] = "?";

	if (ASN1_TIME_to_tm(when, &tm) == 1)
		(void)strftime(day, sizeof(day), "%Y-%m-%d %H:%M", &tm);
	(void)snprintf(text, TLS_TEXT, "certificate %s %s UTC", what, day);
}

static void
not_trusted(const X509 *certificate, char text[static TLS_TEXT])
{
	char line[128], issuer[TLS_TEXT] = "?";

	if (certificate != NULL && X509_NAME_oneline(
	    X509_get_issuer_name(certificate), line, sizeof(line)) != NULL)
		(void)tls_text(issuer, (const uint8_t *)line, strlen(line));
	(void)snprintf(text, TLS_TEXT, "certificate is of an authority that is "
	    "not trusted (%.100s): forward.tls.ca names those that are",
	    issuer);
}

/* Called while the certificate is checked, at its first error. */
static void
tls_refusal_text(X509_STORE_CTX *store, const struct tls_peer *peer,
    char text[static TLS_TEXT])
{
	const int error = X509_STORE_CTX_get_error(store);
	const X509 *certificate = X509_STORE_CTX_get_current_cert(store);
	const X509 *leaf = X509_STORE_CTX_get0_cert(store);
	const bool known = certificate != NULL;

	switch (error) {
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		wrong_name(leaf, peer, text);
		return;
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
		not_trusted(certificate, text);
		return;
	default:
		break;
	}
	if (error == X509_V_ERR_CERT_HAS_EXPIRED && known)
		wrong_time(X509_get0_notAfter(certificate), "expired on", text);
	else if (error == X509_V_ERR_CERT_NOT_YET_VALID && known)
		wrong_time(X509_get0_notBefore(certificate),
		    "is not valid before", text);
	else
		(void)snprintf(text, TLS_TEXT, "certificate is refused: %s",
		    X509_verify_cert_error_string(error));
}

/* a session is resumed at most so long */

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
	struct tls_session *place;

	SSL *ssl = SSL_new(context->ssl);

	v->context = context;
	v->why[0] = '\0';
	if (ssl == NULL || !SSL_set_app_data(ssl, v) ||
	    !set_peer(ssl, &v->peer)) {
		SSL_free(ssl);
		ERR_clear_error();
		return NULL;
	}
	/* Each is used once (RFC 8446 appendix C.4). */
	place = session_of(context, &v->peer);
	if (place != NULL) {
		if (is_current(place->session))
			(void)SSL_set_session(ssl, place->session);
		SSL_SESSION_free(place->session);
		place->session = NULL;
	}
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

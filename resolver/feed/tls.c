/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

/*
 * The text to read from, which BIO_free() ends; "file" holds it if it is in
 * one, and is to be wiped by the caller in any case.  NULL: -ENOMEM or what
 * small_file_read() said, in *error.
 */
static BIO *
pem_open(const struct pem_text *pem, struct small_file *file, int *error)
{
	BIO *bio;

	*file = (struct small_file){ .octets = NULL };
	*error = pem->octets == NULL ? small_file_read(pem->path, file) :
	    pem->length > INT_MAX ? -EFBIG : 0;
	if (*error != 0)
		return NULL;
	bio = pem->octets != NULL ?
	    BIO_new_mem_buf(pem->octets, (int)pem->length) :
	    BIO_new_mem_buf(file->octets, (int)file->length);
	if (bio == NULL)
		*error = -ENOMEM;
	return bio;
}

/* "cert /etc/certs/cert-chain.pem: FAULT". */
static void
pem_say(const struct pem_text *pem, const char *fault,
    char why[static FEED_TEXT])
{
	(void)snprintf(why, FEED_TEXT, "%s%s%.150s%s%s", pem->name,
	    pem->path != NULL ? " " : "", pem->path != NULL ? pem->path : "",
	    fault[0] != '\0' ? ": " : "", fault);
}

int
pem_no_passphrase(char *buffer, int size, int writing, void *arg)
{
	(void)buffer;
	(void)size;
	(void)writing;
	(void)arg;
	return -1;
}

int64_t
pem_seconds(const ASN1_TIME *time)
{
	struct tm tm;

	return ASN1_TIME_to_tm(time, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

#define CHAIN_MOST	16		/* certificates */

static void __attribute__((format(printf, 2, 3)))
say(char why[static FEED_TEXT], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(why, FEED_TEXT, format, args);
	va_end(args);
}

static int
add_roots(SSL_CTX *context, const struct pem_text *pem,
    char why[static FEED_TEXT])
{
	struct small_file file;
	int error, count = 0;
	BIO *bio = pem_open(pem, &file, &error);
	X509 *root;

	/* Whatever is named is trusted, as it is by those who write such files. */
	(void)X509_STORE_set_flags(SSL_CTX_get_cert_store(context),
	    X509_V_FLAG_PARTIAL_CHAIN);
	while (bio != NULL && (root = PEM_read_bio_X509(bio, NULL,
	    pem_no_passphrase, NULL)) != NULL) {
		count += X509_STORE_add_cert(SSL_CTX_get_cert_store(context),
		    root) == 1;
		X509_free(root);
	}
	BIO_free(bio);
	small_file_wipe(&file);
	ERR_clear_error();
	if (count > 0)
		return 0;
	pem_say(pem, error != 0 ? strerror(-error) :
	    "there is no certificate in it", why);
	return -EINVAL;
}

static int
set_roots(SSL_CTX *context, const struct tls_options *options,
    char why[static FEED_TEXT])
{
	if (pem_is_given(&options->roots))
		return add_roots(context, &options->roots, why);
	if (options->insecure || SSL_CTX_set_default_verify_paths(context) == 1)
		return 0;
	say(why, "the system's root certificates cannot be read: set \"%s\"",
	    options->roots.name);
	return -EINVAL;
}

/* The leaf, and those above it into the context. */
static X509 *
read_chain(SSL_CTX *context, const struct pem_text *pem,
    char why[static FEED_TEXT])
{
	struct small_file file;
	int error, count = 0;
	BIO *bio = pem_open(pem, &file, &error);
	X509 *leaf = NULL, *above;

	if (bio != NULL)
		leaf = PEM_read_bio_X509(bio, NULL, pem_no_passphrase, NULL);
	while (leaf != NULL && count++ < CHAIN_MOST && (above =
	    PEM_read_bio_X509(bio, NULL, pem_no_passphrase, NULL)) != NULL)
		if (SSL_CTX_add0_chain_cert(context, above) != 1)
			X509_free(above);
	BIO_free(bio);
	small_file_wipe(&file);
	ERR_clear_error();
	if (leaf == NULL)
		pem_say(pem, error != 0 ? strerror(-error) :
		    "there is no certificate in it", why);
	return leaf;
}

static EVP_PKEY *
read_key(const struct pem_text *pem, char why[static FEED_TEXT])
{
	struct small_file file;
	int error;
	BIO *bio = pem_open(pem, &file, &error);
	EVP_PKEY *key = NULL;

	if (bio != NULL)
		key = PEM_read_bio_PrivateKey(bio, NULL, pem_no_passphrase,
		    NULL);
	BIO_free(bio);
	small_file_wipe(&file);
	ERR_clear_error();
	if (key == NULL)
		pem_say(pem, error != 0 ? strerror(-error) :
		    "there is no key in it that can be read", why);
	return key;
}

static enum tls_pair
check_pair(struct tls_client *client, const struct tls_options *options,
    const X509 *leaf, EVP_PKEY *key, int64_t now)
{
	char cert[FEED_TEXT], other[FEED_TEXT];

	client->begin = pem_seconds(X509_get0_notBefore(leaf));
	client->end = pem_seconds(X509_get0_notAfter(leaf));
	pem_say(&options->cert, "", cert);
	pem_say(&options->key, "", other);
	if (X509_check_private_key(leaf, key) != 1) {
		ERR_clear_error();
		say(client->why, "%.110s and %.110s are not of one another",
		    cert, other);
		return TLS_PAIR_TORN;
	}
	if (now >= client->end) {
		say(client->why, "%.180s has expired", cert);
		return TLS_PAIR_EXPIRED;
	}
	if (now < client->begin) {
		say(client->why, "%.180s is not valid yet: is the clock right?",
		    cert);
		return TLS_PAIR_EXPIRED;
	}
	return TLS_PAIR_GOOD;
}

static bool
is_absent(const struct pem_text *pem)
{
	struct small_file file;
	int error = pem->octets != NULL ? 0 : small_file_read(pem->path, &file);

	if (pem->octets == NULL)
		small_file_wipe(&file);
	return error == -ENOENT;
}

static enum tls_pair
set_pair(SSL_CTX *context, struct tls_client *client,
    const struct tls_options *options, int64_t now)
{
	const struct pem_text *cert = &options->cert;
	enum tls_pair pair = TLS_PAIR_TORN;
	EVP_PKEY *key = NULL;
	X509 *leaf;

	if (!pem_is_given(cert) || !pem_is_given(&options->key))
		return TLS_PAIR_ABSENT;
	if (is_absent(cert) || is_absent(&options->key)) {
		pem_say(is_absent(cert) ? cert : &options->key,
		    "No such file or directory", client->why);
		return TLS_PAIR_ABSENT;
	}
	leaf = read_chain(context, cert, client->why);
	if (leaf != NULL)
		key = read_key(&options->key, client->why);
	if (key != NULL)
		pair = check_pair(client, options, leaf, key, now);
	if (pair == TLS_PAIR_GOOD && options->refused) {
		pem_say(cert, "the server refused it", client->why);
		pair = TLS_PAIR_REFUSED;
	}
	if (pair == TLS_PAIR_GOOD &&
	    (SSL_CTX_use_certificate(context, leaf) != 1 ||
	    SSL_CTX_use_PrivateKey(context, key) != 1)) {
		ERR_clear_error();
		pem_say(cert, "cannot be used", client->why);
		pair = TLS_PAIR_TORN;
	}
	X509_free(leaf);
	EVP_PKEY_free(key);
	return pair;
}

static bool
is_address(const char *host)
{
	struct in6_addr address;

	return inet_pton(AF_INET, host, &address) == 1 ||
	    inet_pton(AF_INET6, host, &address) == 1;
}

/* A name stands in the subject's alternative names, or it does not count. */
static bool
set_host(SSL *ssl, const char *host)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);

	X509_VERIFY_PARAM_set_hostflags(param,
	    X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
	    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (is_address(host))
		return X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1;
	/* SSL_set_tlsext_host_name(), whose macro drops the const. */
	return X509_VERIFY_PARAM_set1_host(param, host, 0) == 1 &&
	    SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME,
	    TLSEXT_NAMETYPE_host_name, (void *)(uintptr_t)host) == 1;
}

static bool
set_rules(SSL_CTX *context, bool insecure)
{
	static const unsigned char alpn[] = { 2, 'h', '2' };

	SSL_CTX_set_verify(context, insecure ? SSL_VERIFY_NONE :
	    SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_default_passwd_cb(context, pem_no_passphrase);
	(void)SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
	    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	(void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	(void)SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION |
	    SSL_OP_NO_RENEGOTIATION);
	/* This one returns 0 for success. */
	return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
	    SSL_CTX_set_alpn_protos(context, alpn, sizeof(alpn)) == 0;
}

int
tls_client_new(struct tls_client *client, const struct tls_options *options,
    int64_t now, char why[static FEED_TEXT])
{
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	int error = -ENOMEM;

	memset(client, 0, sizeof(*client));
	say(why, "OpenSSL cannot be set up");
	if (context != NULL && set_rules(context, options->insecure))
		error = set_roots(context, options, why);
	ERR_clear_error();
	if (error != 0) {
		SSL_CTX_free(context);
		return error;
	}
	client->pair = set_pair(context, client, options, now);
	client->context = context;
	return 0;
}

void
tls_client_free(struct tls_client *client)
{
	SSL_CTX_free(client->context);
	client->context = NULL;
}

SSL *
tls_client_ssl(const struct tls_client *client, const char *host)
{
	SSL *ssl = SSL_new(client->context);

	if (ssl != NULL && set_host(ssl, host))
		return ssl;
	ERR_clear_error();
	SSL_free(ssl);
	return NULL;
}

bool
tls_speaks_http2(const SSL *ssl)
{
	const unsigned char *name;
	unsigned int length;

	SSL_get0_alpn_selected(ssl, &name, &length);
	return length == 2 && memcmp(name, "h2", 2) == 0;
}

static bool
is_about_certificates(int alert)
{
	return (alert >= SSL_AD_BAD_CERTIFICATE &&
	    alert <= SSL_AD_CERTIFICATE_UNKNOWN) ||
	    alert == SSL_AD_UNKNOWN_CA || alert == SSL_AD_ACCESS_DENIED ||
	    /* Of an authority with the same name and another key. */
	    alert == SSL_AD_DECRYPT_ERROR;
}

static enum tls_trouble
explain_alert(int alert, bool offered, char why[static FEED_TEXT])
{
	const char *name = SSL_alert_desc_string_long(alert);

	if (alert == SSL_AD_CERTIFICATE_REQUIRED)
		say(why, "the server wants a client certificate, and none was "
		    "sent");
	else if (offered && is_about_certificates(alert))
		say(why, "the server refused the client certificate: %s", name);
	else
		say(why, "the server refused the TLS handshake: %s", name);
	return offered && is_about_certificates(alert) ? TLS_TROUBLE_REFUSED :
	    TLS_TROUBLE_TLS;
}

enum tls_trouble
tls_explain(const SSL *ssl, int result, bool offered,
    char why[static FEED_TEXT])
{
	int saved = errno, what = SSL_get_error(ssl, result);
	/* The first ones are of libcrypto, and say less. */
	unsigned long code = ERR_peek_last_error();
	long verify = SSL_get_verify_result(ssl);
	int reason = ERR_GET_REASON(code);
	const char *text;

	ERR_clear_error();
	if (what == SSL_ERROR_ZERO_RETURN || what == SSL_ERROR_SYSCALL ||
	    reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
		say(why, "%s", what == SSL_ERROR_SYSCALL && saved != 0 ?
		    strerror(saved) : "the server closed the connection");
		return TLS_TROUBLE_NETWORK;
	}
	text = ERR_reason_error_string(code);
	if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED)
		say(why, "the server's certificate is not accepted: %s",
		    X509_verify_cert_error_string(verify));
	else if (reason > SSL_AD_REASON_OFFSET &&
	    reason <= SSL_AD_REASON_OFFSET + UCHAR_MAX)
		return explain_alert(reason - SSL_AD_REASON_OFFSET, offered,
		    why);
	else
		say(why, "TLS: %s", text != NULL ? text : "unknown error");
	return TLS_TROUBLE_TLS;
}

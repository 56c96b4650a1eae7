/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client's side of TLS.  Roots, certificate and key are read anew for each
 * connection, since all of them rotate.
 */
#ifndef NFDNS_RESOLVER_FEED_TLS_H
#define NFDNS_RESOLVER_FEED_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include "resolver/feed/feed.h"
#include "resolver/small_file.h"

/* Certificates and keys as they are configured, and what their readers need. */

/* A PEM text: octets, or a file that is read anew each time. */
struct pem_text {
	const char *name;		/* of the setting, for messages; static */
	char *path;			/* NULL with octets, or if there is none */
	char *octets;			/* NULL: it is in the file */
	size_t length;
};

static inline bool
pem_is_given(const struct pem_text *pem)
{
	return pem->octets != NULL || pem->path != NULL;
}

/*
 * A pem_password_cb.  Nobody is there to be asked, and without one OpenSSL asks
 * on the terminal: an encrypted key is one that cannot be read.
 */
int pem_no_passphrase(char *buffer, int size, int writing, void *arg);

/* Seconds since 1970; 0 if it is no time. */
int64_t pem_seconds(const ASN1_TIME *time);

/* Whom to trust, and who this machine is.  All of it is borrowed. */
struct tls_options {
	struct pem_text roots;		/* none: the system's */
	struct pem_text cert, key;	/* none: no client certificate */
	bool insecure;			/* the server's is not verified */
	bool refused;			/* the server has refused ours */
};

/* The certificate and key that the server knows this machine by. */
enum tls_pair {
	TLS_PAIR_ABSENT,		/* no such files, or none configured */
	TLS_PAIR_TORN,			/* unreadable, or not of one another */
	TLS_PAIR_EXPIRED,		/* or not valid yet */
	TLS_PAIR_REFUSED,		/* good for us, but not for the server */
	TLS_PAIR_GOOD,			/* offered to the server */
};

/* Why a connection failed. */
enum tls_trouble {
	TLS_TROUBLE_NETWORK,		/* TLS has nothing to do with it */
	TLS_TROUBLE_TLS,
	TLS_TROUBLE_REFUSED,		/* the server refused our certificate */
};

struct tls_client {
	SSL_CTX *context;
	enum tls_pair pair;
	char why[FEED_TEXT];		/* the pair is not offered */
	int64_t begin, end;		/* of the certificate; 0: there is none */
};

/*
 * Reads what a connection needs: TLS 1.2 at least, ALPN "h2".  "now" is the time
 * of day in seconds.  Returns 0; -EINVAL, and the reason, if there are no roots;
 * -ENOMEM.  free accepts one of zeros.
 */
int tls_client_new(struct tls_client *client, const struct tls_options *options,
    int64_t now, char why[static FEED_TEXT])
    __attribute__((warn_unused_result));
void tls_client_free(struct tls_client *client);

/*
 * A connection that is not yet bound to a socket, which the caller frees.  The
 * server's certificate is checked for "host", which may be an IP address.  NULL:
 * no memory.
 */
SSL *tls_client_ssl(const struct tls_client *client, const char *host)
    __attribute__((warn_unused_result));

/* After the handshake: whether the server speaks HTTP/2. */
bool tls_speaks_http2(const SSL *ssl);

/*
 * Why a call of OpenSSL failed, in words; "offered": we showed a certificate.
 * Under TLS 1.3 the server refuses a certificate only after our handshake was
 * successful: the alert comes with what is read first (RFC 8446, 4.4.2.4).
 */
enum tls_trouble tls_explain(const SSL *ssl, int result, bool offered,
    char why[static FEED_TEXT]);

#endif

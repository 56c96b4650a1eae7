/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between the worker and nfdns-tls (server.h), over pairs of SOCK_SEQPACKET.
 * Each is a header of TLS_HEADER octets and a body; neither side trusts the other's.
 *
 *	TLS_OPEN	over the channel, of which each thread of the worker has a
 *			copy; with it come a connected (or connecting) TCP socket, and
 *			one end of a stream whose octets go over it in TLS, each
 *			message as a record; the body says whom the certificate has
 *			to be for
 *	TLS_STATUS	the first message that the stream brings: the certificate is
 *			good, and octets follow; or why it is over
 *
 * A connection ends when its stream does.
 */
#ifndef NFDNS_NFQ_TLS_MESSAGE_H
#define NFDNS_NFQ_TLS_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <openssl/ssl.h>

#define TLS_HEADER	4		/* octets */
#define TLS_PEER_NAME	256		/* with NUL */
#define TLS_TEXT	256		/* with NUL */
#define TLS_PEER_MAX	(20 + TLS_PEER_NAME)	/* octets of a peer */
#define TLS_MESSAGE_MAX	(TLS_HEADER + TLS_PEER_MAX)
#define TLS_FDS		2		/* descriptors of TLS_OPEN */
#define TLS_CONNECTIONS	256		/* at a time */
#define TLS_COPY	16384		/* octets of a record: RFC 8446 section 5.1 */

enum tls_kind { TLS_OPEN, TLS_STATUS, TLS_KINDS };

/* What has become of a connection; from TLS_ENDED on, it is over. */
enum tls_status {
	TLS_OPENED,		/* the certificate is good */
	TLS_RESUMED,		/* was, when this session began */
	TLS_ENDED,		/* by the server, as it may; never sent */
	TLS_NETWORK,		/* it could not be made, or broke */
	TLS_FAILED,		/* TLS has */
	TLS_CERTIFICATE,	/* of somebody else, expired, not trusted */
	TLS_FULL,		/* nfdns-tls has no room for another */
	TLS_STATUSES
};

/* Whom a connection leads to, and whose certificate is accepted. */
struct tls_peer {
	int family;			/* AF_INET, AF_INET6 */
	uint8_t address[16];		/* IPv4: the first 4 octets, others zero */
	uint16_t port;
	char name[TLS_PEER_NAME];	/* "": the certificate is for the address */
};

/* A message that was parsed; borrows the octets. */
struct tls_message {
	enum tls_kind kind;
	enum tls_status status;		/* of TLS_STATUS, whose body says why */
	const uint8_t *body;
	size_t length;
};

void tls_message_write(uint8_t header[static TLS_HEADER], enum tls_kind kind,
    enum tls_status status);

/* 0; or -EPROTO: none that a side could have written. */
int tls_message_parse(struct tls_message *message, const uint8_t *octets,
    size_t length) __attribute__((warn_unused_result));

/* The body of TLS_OPEN; the length of what was written. */
size_t tls_peer_write(const struct tls_peer *peer,
    uint8_t octets[static TLS_PEER_MAX]);

/* 0 or -EPROTO. */
int tls_peer_parse(struct tls_peer *peer, const uint8_t *octets, size_t length)
    __attribute__((warn_unused_result));

/*
 * Copies a text of a server or of the other process: printable ASCII stays, each
 * other octet becomes '?'.  Returns text.
 */
const char *tls_text(char text[static TLS_TEXT], const uint8_t *octets,
    size_t length);

/*
 * Sends one message, with copies of TLS_FDS descriptors unless fds is NULL, without
 * waiting.  0 or a negative errno: -EAGAIN if there is no room.
 */
int tls_channel_send(int channel, const uint8_t header[static TLS_HEADER],
    const void *body, size_t length, const int *fds)
    __attribute__((warn_unused_result));

/*
 * Receives one: its length, and in fds either TLS_FDS descriptors, the caller's, or
 * -1 each; -EAGAIN; -ECONNRESET if the other side is gone; -EPROTO for one that is
 * too long or has another number of descriptors.
 */
ssize_t tls_channel_receive(int channel, uint8_t octets[static TLS_MESSAGE_MAX],
    int fds[static TLS_FDS]) __attribute__((warn_unused_result));

/* Closes those that came. */
void tls_channel_discard(int fds[static TLS_FDS]);

/*
 * What all connections over TLS share: the authorities, the rules of TLS, and
 * sessions that can be resumed.
 */

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

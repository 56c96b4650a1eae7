/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between the forwarding thread and nfdns-tls (server.h), over a
 * SOCK_SEQPACKET pair.  Each is a header of TLS_HEADER octets and a body; neither
 * side trusts the other's.
 *
 *	TLS_OPEN	-> a connected (or connecting) TCP socket comes with it;
 *			   the body says whom its certificate has to be for
 *	TLS_ASK		-> a DNS message for that connection
 *	TLS_CLOSE	-> the connection is not needed any more
 *	TLS_OPENED	<- the handshake is over and the certificate is good
 *	TLS_ANSWER	<- a DNS message that came by that connection
 *	TLS_CLOSED	<- the connection is over; the body says why
 *
 * Connections have numbers that the forwarding thread chooses; it uses none
 * twice.  After TLS_CLOSED or TLS_CLOSE nothing with that number counts.
 */
#ifndef NFDNS_NFQ_TLS_MESSAGE_H
#define NFDNS_NFQ_TLS_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TLS_HEADER	8		/* octets */
#define TLS_BODY_MAX	65535		/* a DNS message over a stream */
#define TLS_MESSAGE_MAX	(TLS_HEADER + TLS_BODY_MAX)
#define TLS_PEER_NAME	256		/* with NUL */
#define TLS_TEXT	256		/* with NUL */
#define TLS_DNS_LEAST	12		/* RFC 1035 section 4.1.1 */

enum tls_kind {
	TLS_OPEN, TLS_ASK, TLS_CLOSE, TLS_OPENED, TLS_ANSWER, TLS_CLOSED,
	TLS_KINDS
};

/* Why a connection is over. */
enum tls_end {
	TLS_END_PEER,		/* the server closed it, or reset it */
	TLS_END_NETWORK,	/* it could not be made */
	TLS_END_HANDSHAKE,	/* TLS failed */
	TLS_END_CERTIFICATE,	/* of somebody else, expired, not trusted */
	TLS_END_GARBAGE,	/* what came is no DNS over TLS */
	TLS_END_UNREAD,		/* the server does not read */
	TLS_END_FULL,		/* nfdns-tls has no room for another */
	TLS_ENDS
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
	uint32_t connection;
	uint8_t detail;			/* OPENED: 1 resumed; CLOSED: enum tls_end */
	const uint8_t *body;
	size_t length;
};

void tls_message_write(uint8_t header[static TLS_HEADER], enum tls_kind kind,
    uint32_t connection, uint8_t detail);

/* 0; or -EPROTO: none that a side could have written. */
int tls_message_parse(struct tls_message *message, const uint8_t *octets,
    size_t length) __attribute__((warn_unused_result));

/* The body of TLS_OPEN; the length of what was written. */
#define TLS_PEER_MAX	(20 + TLS_PEER_NAME)
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
 * Sends one message, with a copy of fd unless that is -1, without waiting.  0 or
 * a negative errno: -EAGAIN if there is no room.
 */
int tls_channel_send(int channel, const uint8_t header[static TLS_HEADER],
    const void *body, size_t length, int fd)
    __attribute__((warn_unused_result));

/*
 * Receives one: its length, and *fd is the caller's or -1; -EAGAIN;
 * -ECONNRESET if the other side is gone; -EPROTO for one that is too long or
 * has more than one descriptor.
 */
ssize_t tls_channel_receive(int channel, uint8_t octets[static TLS_MESSAGE_MAX],
    int *fd) __attribute__((warn_unused_result));

#endif

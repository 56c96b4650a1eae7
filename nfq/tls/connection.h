/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection over TLS: the handshake, then octets both ways between a stream of
 * the other process and the server.  No function waits.  Of each way there are
 * TLS_COPY octets at most; while they wait, nothing more is read on that way.  An end
 * on one side is an end on the other: either way may end before the other does.
 */
#ifndef NFDNS_NFQ_TLS_CONNECTION_H
#define NFDNS_NFQ_TLS_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "nfq/tls/context.h"
#include "nfq/tls/message.h"

/* Octets on their way. */
struct tls_way {
	uint8_t octets[TLS_COPY];
	size_t begin, end;		/* what waits lies between these */
	bool ended;			/* no more comes */
	bool passed;			/* and the other side was told so */
};

struct tls_ways {
	struct tls_way out, in;		/* to the server, and from it */
};

struct tls_connection {
	int fd;				/* of the server; -1: this place is free */
	int stream;			/* of the other process */
	SSL *ssl;
	struct tls_verified verified;
	bool connected;			/* TCP's handshake is over */
	bool opened;			/* TLS's, too */
	bool announced;			/* the other process knows that */
	struct tls_ways *ways;
	uint32_t reads, writes;		/* event that OpenSSL waits for, to read or write */
	enum tls_status status;		/* once a function returned -ECONNRESET */
	char why[TLS_TEXT];
	uint32_t events, stream_events;	/* of epoll(7), wanted; 0: not in it */
};

/* Takes both descriptors.  0, or -ENOMEM: they stay the caller's. */
int tls_connection_open(struct tls_connection *c, struct tls_context *context,
    const int fds[static TLS_FDS], const struct tls_peer *peer)
    __attribute__((warn_unused_result));
void tls_connection_close(struct tls_connection *c);

/*
 * Goes on with what can be done now, but no further than to the end of the handshake
 * before it is announced.  0, or -ECONNRESET: it is over, see status and why.
 */
int tls_connection_work(struct tls_connection *c)
    __attribute__((warn_unused_result));

/*
 * What epoll(7) has to report of the server or the stream before
 * tls_connection_work() can go on.
 */
uint32_t tls_connection_events(const struct tls_connection *c);
uint32_t tls_connection_stream_events(const struct tls_connection *c);

#endif

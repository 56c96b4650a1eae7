/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection over TLS: the handshake, messages out, messages in.  No function
 * waits.
 */
#ifndef NFDNS_NFQ_TLS_CONNECTION_H
#define NFDNS_NFQ_TLS_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "nfq/tls/context.h"
#include "nfq/tls/frames.h"
#include "nfq/tls/message.h"

struct tls_connection {
	uint32_t number;
	int fd;				/* -1: this place is free */
	SSL *ssl;
	struct tls_verified verified;
	bool connected;			/* TCP's handshake is over */
	bool opened;			/* TLS's, too */
	bool announced;			/* TLS_OPENED was sent */
	bool more;			/* there is more to read now */
	struct frames_in in;
	struct frames_out out;
	const uint8_t *message;		/* a whole one, to be taken; NULL: none */
	size_t message_length;
	enum tls_end end;		/* once a function returned -ECONNRESET */
	char why[TLS_TEXT];
	uint32_t events;		/* of epoll(7), wanted; 0: not in it yet */
};

/* Takes the socket.  0, or -ENOMEM: the socket stays the caller's. */
int tls_connection_open(struct tls_connection *c, struct tls_context *context,
    uint32_t number, int fd, const struct tls_peer *peer)
    __attribute__((warn_unused_result));
void tls_connection_close(struct tls_connection *c);

/* A message waits to be sent.  0, or -ECONNRESET: it is over. */
int tls_connection_ask(struct tls_connection *c, const uint8_t *message,
    size_t length) __attribute__((warn_unused_result));

/*
 * Goes on with what can be done now: up to the next whole message, which stands
 * in c->message then; set that to NULL when it is taken.  0, or -ECONNRESET: it
 * is over, see end and why.
 */
int tls_connection_work(struct tls_connection *c)
    __attribute__((warn_unused_result));

/* What epoll(7) has to report before tls_connection_work() can go on. */
uint32_t tls_connection_events(const struct tls_connection *c);

#endif

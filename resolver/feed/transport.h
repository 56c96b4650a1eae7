/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stream of octets to a server: TCP, or TLS over it.  Nothing blocks. */
#ifndef NFDNS_RESOLVER_FEED_TRANSPORT_H
#define NFDNS_RESOLVER_FEED_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <openssl/ssl.h>

#include "resolver/feed/feed.h"
#include "resolver/feed/resolve.h"
#include "resolver/feed/tls.h"

/* Begin with TRANSPORT_INIT; owns both. */
struct transport {
	int fd;
	SSL *ssl;			/* NULL: plain */
	bool offered;			/* a client certificate */
	enum tls_trouble trouble;	/* what failed */
	bool wants_write;		/* TLS has something to write */
};

#define TRANSPORT_INIT { .fd = -1 }

/* Starts connecting.  0 or a negative errno. */
int transport_connect(struct transport *transport,
    const struct resolve_address *address) __attribute__((warn_unused_result));

/* After poll(2) said POLLOUT: 0, or the reason it failed. */
int transport_connected(const struct transport *transport)
    __attribute__((warn_unused_result));

/* From now on TLS, whose handshake is to be done; takes over ssl. */
int transport_secure(struct transport *transport, SSL *ssl, bool offered)
    __attribute__((warn_unused_result));

/*
 * 0: done; -EAGAIN: wait for the socket; -ECONNABORTED and the reason in "why".
 * So do the others, but that they return octets; read returns 0 at the end.
 */
int transport_handshake(struct transport *transport,
    char why[static FEED_TEXT]) __attribute__((warn_unused_result));
ssize_t transport_read(struct transport *transport, void *octets, size_t size,
    char why[static FEED_TEXT]) __attribute__((warn_unused_result));
ssize_t transport_write(struct transport *transport, const void *octets,
    size_t length, char why[static FEED_TEXT])
    __attribute__((warn_unused_result));

/* Without waiting for anything; leaves it as TRANSPORT_INIT does. */
void transport_close(struct transport *transport);

#endif

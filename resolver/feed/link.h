/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection to a control plane, from the resolution of the name to the end: for
 * one gRPC call, or for GETs, one at a time.  A link is used once:
 *
 *   RESOLVING -> CONNECTING -> [TUNNEL] -> HANDSHAKE -> SETTLING -> OPEN -> FAILED
 *
 * Each step has its deadline.  Addresses are tried a quarter of a second after one
 * another, and the first that connects is taken (RFC 8305, section 5).  Up to the
 * handshake, whatever fails leads to the next address; after the last one, to
 * FAILED.
 */
#ifndef NFDNS_RESOLVER_FEED_LINK_H
#define NFDNS_RESOLVER_FEED_LINK_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/feed/feed.h"
#include "resolver/feed/http2.h"
#include "resolver/feed/resolve.h"
#include "resolver/feed/tls.h"
#include "resolver/small_file.h"
#include "resolver/text/host.h"

#define LINK_FDS	RESOLVE_FDS

#define LINK_RESOLVE_MS	5000
#define LINK_CONNECT_MS	5000		/* each address */
#define LINK_NEXT_MS	250		/* then the next one is tried beside it */
#define LINK_TUNNEL_MS	5000		/* through a proxy */
#define LINK_HANDSHAKE_MS 5000
#define LINK_SETTLE_MS	5000

#define LINK_LIMIT_DEFAULT ((uint64_t)256 << 20)	/* of config->limit */

struct link;

/* Borrowed: the texts of the call for the link's life, the others for link_new(). */
struct link_options {
	const char *server;		/* "HOST:PORT" */
	char *const *addresses;		/* of HOST; none: it is resolved */
	size_t address_count;
	const struct tls_options *tls;	/* NULL: plaintext */
	const char *tls_host;		/* in its certificate; NULL: HOST */
	const char *token;		/* a file, sent if there is no good pair */
	bool has_token;			/* the caller sends one of its own */
	const struct link_proxy *proxy;	/* NULL: straight to the server */
	int64_t ping_ms;		/* KEEPALIVE_INTERVAL_MS, or slower */
	size_t turn;			/* the address to begin with */
	/* A pair whose halves do not match was seen before: use the token. */
	bool gave_time;
	/* The gRPC call, which begins at once; NULL: the caller GETs. */
	const char *path;
	const char *cluster;		/* "clusterid"; or NULL */
	uint64_t limit;			/* octets of a message; 0: the default */
};

/* An HTTP proxy that is asked to CONNECT (RFC 9110, section 9.3.6). */
struct link_proxy {
	const char *server;		/* "HOST:PORT" */
	const char *authorization;	/* "Basic ..."; or NULL */
};

/* The options of a feed of xds, which borrow its config; "tls" is filled in. */
struct link_options link_options_of(const struct feed_config *config,
    struct tls_options *tls, const char *path);

/* Why it is over. */
struct link_end {
	enum feed_cause cause;
	unsigned int status;		/* gRPC's; GRPC_UNAVAILABLE if it had none */
	bool torn;			/* the pair's halves do not match */
	bool refused;			/* the server does not accept the pair */
	bool too_many_pings;
	char why[FEED_TEXT];
};

/* Octets of the certificate that is configured, if it could be read. */
struct link_certificate {
	int64_t begin, end;		/* 0: there is none */
};

/* NULL: no memory. */
struct link *link_new(const struct link_options *options, monotime_t now)
    __attribute__((warn_unused_result));

/* Closes without a word; cancels the call before it, if that can be said. */
void link_free(struct link *link);

/* What to wait for: at most LINK_FDS, and until when. */
size_t link_poll(struct link *link, struct pollfd *fds, monotime_t now);
monotime_t link_deadline(struct link *link, monotime_t now);

/* After poll(2), with what link_poll() filled in.  Reads, writes, goes on. */
void link_step(struct link *link, const struct pollfd *fds, size_t count,
    monotime_t now);

/* To the server; see http2_send() and http2_send_end(). */
int link_send(struct link *link, const void *octets, size_t length)
    __attribute__((warn_unused_result));
void link_send_end(struct link *link);

/* Once it is open, and when the GET before it was whole; see http2_get(). */
int link_get(struct link *link, const struct http2_request *request,
    const struct http2_reader *reader) __attribute__((warn_unused_result));
bool link_is_whole(const struct link *link);	/* the GET was answered */

/* The next message, which the caller frees; NULL: there is none. */
uint8_t *link_message(struct link *link, size_t *length);

/* Octets of the message that is coming; 0: none is. */
size_t link_inside(const struct link *link);

/* See http2_coming(), http2_waits() and http2_hold(). */
size_t link_coming(const struct link *link);
bool link_waits(const struct link *link);
void link_hold(struct link *link, uint64_t octets);

bool link_is_open(const struct link *link);	/* the call may be answered */
bool link_is_going(const struct link *link);	/* the server said GOAWAY */
const struct link_end *link_ended(const struct link *link); /* NULL: not yet */

/* Octets of the peer since the last call of this function. */
bool link_take_life(struct link *link);

/* The caller is not content with it.  "why" is printable. */
void link_abandon(struct link *link, enum feed_cause cause, const char *why);

const char *link_peer(const struct link *link);	/* address and port, or "" */
struct link_certificate link_certificate(const struct link *link);

/* What the files of a link share: link.c, link_call.c and transport.c below it. */

/* A stream of octets to a server: TCP, or TLS over it.  Nothing blocks. */

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

enum link_state {
	LINK_RESOLVING,
	LINK_CONNECTING,
	LINK_TUNNEL,			/* the proxy's answer is to come */
	LINK_HANDSHAKE,			/* TLS */
	LINK_SETTLING,			/* the server's SETTINGS are to come */
	LINK_OPEN,
	LINK_FAILED,
};

#define LINK_TOKEN_MOST	((size_t)16 << 10)
#define LINK_ATTEMPTS	4		/* addresses that are tried at once */
#define LINK_TUNNEL_MOST 4096		/* octets of a request or answer */

/* A connection that is being made. */
struct link_attempt {
	struct transport transport;
	const struct resolve_address *address;
	monotime_t deadline;
};

/* A request for a tunnel, and then the answer to it. */
struct link_tunnel {
	bool sent;
	size_t length;
	char octets[LINK_TUNNEL_MOST];
};

struct link {
	struct link_options options;
	enum link_state state;
	monotime_t deadline;		/* of the state */
	char host[HOST_TEXT];		/* of the server */
	char to[HOST_TEXT];		/* of it, or of the proxy */
	struct resolve *resolve;
	struct resolve_addresses addresses;
	size_t tried;			/* of them, from options.turn on */
	struct link_attempt attempts[LINK_ATTEMPTS];
	size_t attempt_count;
	monotime_t next;		/* when the next address is tried */
	char peer[FEED_TEXT];		/* the address that was taken */
	struct link_tunnel *tunnel;	/* NULL: none is wanted */
	struct small_file token;	/* until it is sent */
	bool is_tls;
	struct tls_client tls;		/* of all attempts */
	struct transport transport;
	struct http2 *http2;		/* stays after the end, for its messages */
	struct keepalive keepalive;
	bool has_more;			/* read again before waiting */
	bool is_blocked;		/* there is more to write */
	bool is_broken;			/* writing has failed */
	bool heard;			/* since link_take_life() */
	struct link_end end;
};

/* Ends the link, unless it has ended.  The reason is printable. */
void link_fail(struct link *l, enum feed_cause cause, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The HTTP/2 session and its call.  0 or -ENOMEM. */
int link_call_begin(struct link *l) __attribute__((warn_unused_result));

/* Reads and writes as much as the socket takes, within limits. */
void link_exchange(struct link *l, monotime_t now);
void link_flush(struct link *l);

/* Deadlines and signs of life. */
void link_watch(struct link *l, monotime_t now);

#endif

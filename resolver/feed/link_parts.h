/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of a link share: link.c, and link_call.c below it. */
#ifndef NFDNS_RESOLVER_FEED_LINK_PARTS_H
#define NFDNS_RESOLVER_FEED_LINK_PARTS_H

#include "resolver/feed/grpc.h"
#include "resolver/feed/http2.h"
#include "resolver/feed/keepalive.h"
#include "resolver/feed/link.h"
#include "resolver/feed/small_file.h"
#include "resolver/feed/transport.h"
#include "resolver/text/host.h"

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

/*
 * Goes on with the tunnel.  0: it is there; -EAGAIN: wait; -ECONNABORTED and the
 * reason in "why".
 */
int link_tunnel_step(struct link *l, char why[static FEED_TEXT])
    __attribute__((warn_unused_result));

/* The HTTP/2 session and its call.  0 or -ENOMEM. */
int link_call_begin(struct link *l) __attribute__((warn_unused_result));

/* Reads and writes as much as the socket takes, within limits. */
void link_exchange(struct link *l, monotime_t now);
void link_flush(struct link *l);

/* Deadlines and signs of life. */
void link_watch(struct link *l, monotime_t now);

#endif

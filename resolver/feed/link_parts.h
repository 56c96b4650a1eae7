/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of a link share: link.c, and link_call.c below it. */
#ifndef NFDNS_RESOLVER_FEED_LINK_PARTS_H
#define NFDNS_RESOLVER_FEED_LINK_PARTS_H

#include "resolver/feed/grpc.h"
#include "resolver/feed/http2.h"
#include "resolver/feed/keepalive.h"
#include "resolver/feed/link.h"
#include "resolver/feed/small_file.h"
#include "resolver/feed/tls.h"
#include "resolver/feed/transport.h"
#include "resolver/text/host.h"

enum link_state {
	LINK_RESOLVING,
	LINK_CONNECTING,
	LINK_HANDSHAKE,			/* TLS */
	LINK_SETTLING,			/* the server's SETTINGS are to come */
	LINK_OPEN,
	LINK_FAILED,
};

#define LINK_TOKEN_MOST	((size_t)16 << 10)

struct link {
	struct link_options options;
	enum link_state state;
	monotime_t deadline;		/* of the state */
	char host[HOST_TEXT];
	struct resolve *resolve;
	struct resolve_addresses addresses;
	size_t tried;			/* of them, from options.turn on */
	char peer[FEED_TEXT];		/* the one that is tried */
	struct small_file token;	/* until it is sent */
	struct link_certificate certificate;
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

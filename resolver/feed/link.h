/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One gRPC call to a server on a connection of its own, from the resolution of
 * the name to the end.  A link is used once:
 *
 *   RESOLVING -> CONNECTING -> HANDSHAKE -> SETTLING -> OPEN -> FAILED
 *
 * Each step has its deadline.  Up to the handshake, whatever fails leads to the
 * next address; after the last one, to FAILED.
 */
#ifndef NFDNS_RESOLVER_FEED_LINK_H
#define NFDNS_RESOLVER_FEED_LINK_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/feed/feed.h"
#include "resolver/feed/resolve.h"

#define LINK_FDS	RESOLVE_FDS

#define LINK_RESOLVE_MS	5000
#define LINK_CONNECT_MS	5000		/* each address */
#define LINK_HANDSHAKE_MS 5000
#define LINK_SETTLE_MS	5000

#define LINK_LIMIT_DEFAULT ((uint64_t)256 << 20)	/* of config->limit */

struct link;

struct link_options {
	const struct feed_config *config;
	const char *path;		/* of the call */
	int64_t ping_ms;		/* KEEPALIVE_INTERVAL_MS, or slower */
	size_t turn;			/* the address to begin with */
	/* A pair whose halves do not match was seen before: use the token. */
	bool gave_time;
	bool refused;			/* the server refused the pair: likewise */
};

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

/* The config is borrowed for the link's life.  NULL: no memory. */
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

/* The next message, which the caller frees; NULL: there is none. */
uint8_t *link_message(struct link *link, size_t *length);

/* More octets are there: the next step will not wait. */
bool link_has_more(const struct link *link);

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

/* The machine slept. */
void link_suspect(struct link *link, monotime_t now);

/*
 * This machine's addresses or routes have changed.  Without its address the link
 * has failed; with another route it may have.
 */
void link_check_route(struct link *link, monotime_t now);

const char *link_peer(const struct link *link);	/* address and port, or "" */
struct link_certificate link_certificate(const struct link *link);

#endif

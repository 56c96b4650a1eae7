/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Upstreams that are asked over TLS: one connection for each, which is kept and
 * carries many questions at a time.  TLS itself runs in nfdns-tls (nfq/tls/),
 * which gets each connection's socket from here; without it, questions wait.
 *
 * A question that was under way when its server closed the connection is asked
 * once more by another one (RFC 7766 section 6.2.4), and so it is if nfdns-tls
 * ends.  Nothing is ever asked in clear text instead (RFC 8310 section 5.1).
 *
 * "now" is of CLOCK_BOOTTIME.
 */
#ifndef NFDNS_NFQ_FORWARD_TLS_UPSTREAMS_H
#define NFDNS_NFQ_FORWARD_TLS_UPSTREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/forward/stream_questions.h"
#include "nfq/forward/dialer.h"
#include "nfq/tls/message.h"
#include "policy/config/forward_settings.h"
#include "resolver/clock.h"

#define TLS_UPSTREAMS	128	/* those that a reload removed, too */
_Static_assert(TLS_UPSTREAMS >= 2 * FORWARD_UPSTREAMS, "room for a reload");

enum tls_upstream_state {
	TLS_IDLE,		/* no connection */
	TLS_WAITS_SOCKET,	/* nfdns-sockets opens one */
	TLS_SHAKES,		/* nfdns-tls has it; the handshake is not over */
	TLS_OPENED_UP,
};

struct tls_upstream {
	struct forward_upstream to;	/* family 0: this place is free */
	enum tls_upstream_state state;
	uint32_t connection;		/* its number; 0: none */
	struct stream_question_list waiting, sent;
	monotime_t deadline;		/* of the handshake */
	monotime_t idle;		/* it is closed then, without questions */
	monotime_t mute;		/* and then, if no answer comes; NEVER: none
					   is awaited */
	monotime_t retry;		/* no connection before that */
	unsigned int failures;		/* connections in a row without an answer */
	bool answered;			/* this connection has brought an answer */
	uint32_t awaited;		/* questions of "sent" without an answer */
	uint32_t given_up;		/* questions whose answers may come late */
	uint32_t unasked;		/* answers to nothing */
	char why[TLS_TEXT];		/* why the last connection failed; or "" */
};

/* Counters; all only grow. */
struct tls_stats {
	uint64_t connections, resumed;	/* handshakes that were good */
	uint64_t failed;		/* connections without any answer */
	uint64_t again;			/* questions that were sent once more */
	uint64_t unasked;		/* answers that nobody asked for */
};

struct tls_upstreams {
	int epoll;			/* borrowed */
	struct dialer *dialer;	/* borrowed */
	uint32_t idle_s;
	size_t places;			/* how many of these were ever taken: */
	struct tls_upstream all[TLS_UPSTREAMS];
	struct stream_questions questions;
	struct tls_stats stats;

	/* Of nfdns-tls. */
	int channel;			/* -1: none */
	bool blocked;			/* it has no room */
	bool stuck;			/* and did not take what has to be taken */
	bool lost;			/* the channel broke; logged */
	monotime_t wanted;		/* when a channel was asked for */

	uint8_t octets[TLS_MESSAGE_MAX];
};

void tls_upstreams_init(struct tls_upstreams *t, int epoll,
    struct dialer *dialer);
/* Closes all. */
void tls_upstreams_close(struct tls_upstreams *t);

/* engine_host.send.  0 or a negative errno. */
int tls_upstreams_send(struct tls_upstreams *t, monotime_t now,
    uint32_t attempt, const struct asking *cause,
    const struct forward_upstream *to, const uint8_t *octets, size_t length)
    __attribute__((warn_unused_result));

/* engine_host.close: whether it is one of these attempts. */
bool tls_upstreams_forget(struct tls_upstreams *t, monotime_t now,
    uint32_t attempt);

/*
 * A new channel to nfdns-tls, in place of the one there is, whose questions are
 * asked again.  epoll's data of its events is "t".
 */
void tls_upstreams_use(struct tls_upstreams *t, monotime_t now, int channel);

/* After events of the channel: "events" of epoll(7). */
void tls_upstreams_event(struct tls_upstreams *t, monotime_t now,
    uint32_t events);

/* The next answer that came; false: there is none now. */
bool tls_upstreams_receive(struct tls_upstreams *t, monotime_t now,
    struct stream_reply *reply);

/*
 * dialer_take() has brought this socket, which is "t"'s then, or its error.
 * False: it is for none of these connections.
 */
bool tls_upstreams_take_socket(struct tls_upstreams *t, monotime_t now,
    uint32_t connection, int fd);

/* There is a channel to nfdns-sockets: connections begin that waited for one. */
void tls_upstreams_begin(struct tls_upstreams *t, monotime_t now);

/* The next attempt that has failed; false: there is none. */
bool tls_upstreams_failed(struct tls_upstreams *t, struct stream_reply *reply);

/* When tls_upstreams_tick() is needed; NEVER: not before another call. */
monotime_t tls_upstreams_next(const struct tls_upstreams *t);
void tls_upstreams_tick(struct tls_upstreams *t, monotime_t now);

/*
 * Whether nfdns-tls is needed ("any": an upstream of the settings is asked over
 * TLS) and has not been asked for in the last second; then it counts as asked for.
 */
bool tls_upstreams_wants(struct tls_upstreams *t, monotime_t now, bool any);

/* Whether a question waits for a connection. */
bool tls_upstreams_any_waits(const struct tls_upstreams *t);

/* Why the last connection to that upstream failed; "" if it did not. */
const char *tls_upstreams_why(const struct tls_upstreams *t,
    const struct forward_upstream *to);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of tcp_upstreams.h call in each other: for them alone.  None of
 * these calls the engine.
 */
#ifndef NFDNS_NFQ_UPSTREAM_TCP_STATE_H
#define NFDNS_NFQ_UPSTREAM_TCP_STATE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "nfq/upstream/tcp_upstreams.h"
#include "nfq/ask/timers.h"
#include "nfq/tls/message.h"

/*
 * DNS messages in a stream (RFC 1035 section 4.2.2, RFC 7858 section 3.3): two
 * octets of length before each.  Makes no system call.
 */

#define FRAMES_LENGTH	2		/* octets of a length */
#define FRAMES_LEAST	12		/* of a message: RFC 1035 section 4.1.1 */
#define FRAMES_MOST	65535
#define FRAMES_OUT_MAX	(256U << 10)	/* octets that may wait to be sent */

/* What comes in: whole messages out of pieces.  All zero: nothing came. */
struct frames_in {
	uint8_t *octets;		/* FRAMES_IN_MAX of them, or NULL */
	size_t used;
};

#define FRAMES_IN_MAX	(FRAMES_LENGTH + FRAMES_MOST)

/*
 * Where the next octets go, and how many at most, so that no more than one
 * message is there at a time: *room is above 0.  NULL: no memory.
 */
uint8_t *frames_in_room(struct frames_in *in, size_t *room);

/*
 * "count" octets were put there.  The length of a message that is whole now, and
 * *message, which is borrowed until the next call of frames_in_room(); 0: not
 * yet; -EPROTO: the message would be shorter than any of DNS.
 */
ssize_t frames_in_took(struct frames_in *in, size_t count,
    const uint8_t **message);

void frames_in_free(struct frames_in *in);

/* What goes out.  All zero: nothing waits. */
struct frames_out {
	uint8_t *octets;		/* of malloc(3), or NULL */
	size_t size, begin, end;	/* what waits lies between these */
};

/* Adds a message.  0, -ENOMEM, or -ENOBUFS: too many octets wait. */
int frames_out_put(struct frames_out *out, const uint8_t *message,
    size_t length) __attribute__((warn_unused_result));

/* What waits; *length may be 0. */
const uint8_t *frames_out_octets(const struct frames_out *out, size_t *length);

/* So many of them were sent. */
void frames_out_sent(struct frames_out *out, size_t count);

void frames_out_free(struct frames_out *out);

#define TCP_LISTS	1024	/* connections by number */
#define TCP_HOSTS	256	/* lists of upstreams */
#define TCP_EVENTS	64	/* of one round */

enum tcp_state {
	TCP_OPENING,
	TCP_OPEN,
	TCP_OVER,		/* freed when this round is over */
};

struct tcp_connection {
	struct timer timer;		/* first: leads to the connection */
	enum tcp_state state;
	uint32_t number;
	int fd;				/* -1: none yet */
	struct tcp_upstream *upstream;
	struct stream_question_list sent;
	uint32_t awaited;		/* of these, without an answer */
	uint32_t given_up;		/* questions whose answers may come late */
	uint32_t carried, answers;	/* so far */
	uint32_t unasked;		/* answers to nothing */
	monotime_t heard;		/* an answer came, or the first question went */
	bool blocked;			/* the server does not read */
	bool unsent;			/* stands in that list */
	bool finished;			/* to be closed when its answer was read */
	bool told;			/* why it failed: that is in "why" */
	struct frames_in in;
	struct frames_out out;
	TAILQ_ENTRY(tcp_connection) entry;	/* of its upstream, or the dead */
	TAILQ_ENTRY(tcp_connection) by_number;
	TAILQ_ENTRY(tcp_connection) in_unsent;
};

TAILQ_HEAD(tcp_connection_list, tcp_connection);

struct tcp_upstream {
	struct stream_question_list waiting;	/* first: leads to the upstream */
	struct forward_upstream to;
	struct tcp_connection_list connections;
	uint32_t waits, count;		/* of these lists */
	uint32_t shorts;		/* connections in a row that ended early */
	bool parallel;			/* it has answered out of turn */
	bool once;			/* it ends connections after an answer */
	monotime_t alone_until;		/* one question at a time on each */
	monotime_t retry;		/* no connection before that */
	unsigned int failures;		/* over TLS, in a row */
	char why[TLS_TEXT];		/* why the last one over TLS failed; or "" */
	uint32_t host;			/* its list of these */
	TAILQ_ENTRY(tcp_upstream) entry;	/* the last used at the end */
	TAILQ_ENTRY(tcp_upstream) by_host;
};

TAILQ_HEAD(tcp_upstream_list, tcp_upstream);

struct tcp_upstreams {
	uint32_t mark;			/* of sockets; 0: none */
	uint32_t last;			/* connection's number */
	int epoll;
	uint64_t seed;
	uint32_t count;			/* connections */
	uint32_t upstream_count;
	uint32_t waits;			/* questions that wait for connections */
	struct stream_questions questions;
	struct tcp_upstream_list upstreams, by_host[TCP_HOSTS];
	struct tcp_connection_list by_number[TCP_LISTS], unsent, dead;
	struct timers timers;
	struct tcp_stats stats[2];	/* without TLS, with it */

	/* Of nfdns-tls. */
	int channel;			/* -1: none */
	uint32_t tunnels;		/* connections over TLS */
	bool stuck;			/* it did not take what has to be taken */
	bool lost;			/* the channel broke; logged */
	monotime_t wanted;		/* when a channel was asked for */
	uint8_t message[TLS_MESSAGE_MAX];

	struct epoll_event events[TCP_EVENTS];
	int event, event_count;		/* the next of these */
	struct tcp_connection *reading;	/* whose octets these are; or NULL */
	size_t at, end;
	uint8_t octets[FRAMES_IN_MAX];
};

/* Sends what waits, or has it wait for connections, which begin. */
void tcp_pump(struct tcp_upstreams *t, monotime_t now,
    struct tcp_upstream *u);

/* Whether each of its connections carries one question at a time. */
bool tcp_is_alone(const struct tcp_upstream *u, monotime_t now);

/* The connection is made, and so is TLS if it is a tunnel. */
void tcp_opened(struct tcp_upstreams *t, monotime_t now,
    struct tcp_connection *c);

/* It may be written to: it is made, or the server reads again. */
void tcp_writable(struct tcp_upstreams *t, monotime_t now,
    struct tcp_connection *c);

/* Sends what its questions have left behind. */
void tcp_flush(struct tcp_upstreams *t, struct tcp_connection *c);

/* When something is due for it, after a change. */
void tcp_set_timer(struct tcp_upstreams *t, monotime_t now,
    struct tcp_connection *c);

enum tcp_end {
	TCP_END_PEER,		/* the server has ended it, or it broke */
	TCP_END_MUTE,		/* nothing comes any more */
	TCP_END_OURS,		/* nothing needs it, or nfdns-tls has ended */
};

/*
 * The connection is over; "error" is for questions that are not asked again.  It
 * is freed later, and its upstream may be freed.
 */
void tcp_over(struct tcp_upstreams *t, monotime_t now,
    struct tcp_connection *c, enum tcp_end end, int error);

/* Closes all of an upstream's, with what they carry. */
void tcp_end_all(struct tcp_upstreams *t, struct tcp_upstream *u);

/* Frees an upstream of which nothing is worth keeping. */
void tcp_release(struct tcp_upstreams *t, monotime_t now,
    struct tcp_upstream *u);

/* NULL: there is none of that number. */
struct tcp_connection *tcp_by_number(struct tcp_upstreams *t,
    uint32_t number);

static inline struct tcp_stats *
tcp_stats_of(struct tcp_upstreams *t, const struct tcp_upstream *u)
{
	return &t->stats[u->to.transport == FORWARD_TLS];
}

/*
 * tcp_tunnels.c: connections over TLS.  nfdns-tls has the socket and one end of a
 * stream; the other end is the connection's descriptor.
 */
static inline bool
tcp_is_tunnel(const struct tcp_upstream *u)
{
	return u->to.transport == FORWARD_TLS;
}

/* Whether a connection to that upstream may begin, as far as TLS is concerned. */
bool tcp_tunnels_are_ready(const struct tcp_upstreams *t,
    const struct tcp_upstream *u);

/* Gives nfdns-tls the socket.  Our end of the stream, or a negative errno. */
int tcp_tunnel_open(struct tcp_upstreams *t, const struct tcp_connection *c,
    int fd) __attribute__((warn_unused_result));

/* Before it is over: why, as nfdns-tls has it. */
void tcp_tunnel_failed(struct tcp_connection *c, const char *why);

/* A connection is about to be over: what that says of the server and of TLS. */
void tcp_tunnel_over(struct tcp_upstreams *t, monotime_t now,
    struct tcp_connection *c, enum tcp_end end, int error);

/* The first answer of a connection: the server is good. */
void tcp_tunnel_works(struct tcp_upstream *u);

/*
 * tcp_channel.c: what nfdns-tls says first of a connection, which may be over then.  0,
 * or a negative errno: it is to be ended.
 */
int tcp_tunnel_opening(struct tcp_upstreams *t, monotime_t now,
    struct tcp_connection *c) __attribute__((warn_unused_result));

/* Whether the channel has ended, and all tunnels with it. */
void tcp_tunnels_look(struct tcp_upstreams *t, monotime_t now);

/* All tunnels are gone with the channel; error: 0 or why, a negative errno. */
void tcp_tunnels_lose(struct tcp_upstreams *t, monotime_t now, int error);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of tcp_upstreams.h call in each other: for them alone.  None of
 * these calls the engine.
 */
#ifndef NFDNS_NFQ_FORWARD_TCP_STATE_H
#define NFDNS_NFQ_FORWARD_TCP_STATE_H

#include <sys/epoll.h>
#include <sys/queue.h>

#include "nfq/forward/tcp_upstreams.h"
#include "nfq/forward/timers.h"
#include "nfq/tls/frames.h"

#define TCP_LISTS	1024	/* connections by number */
#define TCP_HOSTS	256	/* lists of upstreams */
#define TCP_EVENTS	64	/* of one round */

enum tcp_state {
	TCP_WAITS_SOCKET,	/* nfdns-sockets opens it */
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
	uint32_t host;			/* its list of these */
	TAILQ_ENTRY(tcp_upstream) entry;	/* the last used at the end */
	TAILQ_ENTRY(tcp_upstream) by_host;
};

TAILQ_HEAD(tcp_upstream_list, tcp_upstream);

struct tcp_upstreams {
	struct dialer *dialer;
	int epoll;
	uint64_t seed;
	uint32_t count;			/* connections */
	uint32_t upstream_count;
	uint32_t waits;			/* questions that wait for connections */
	struct stream_questions questions;
	struct tcp_upstream_list upstreams, by_host[TCP_HOSTS];
	struct tcp_connection_list by_number[TCP_LISTS], unsent, dead;
	struct timers timers;
	struct tcp_stats stats;
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

/* The socket is there. */
void tcp_take_socket(struct tcp_upstreams *t, monotime_t now,
    struct tcp_connection *c, int fd);

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
	TCP_END_OURS,		/* nothing needs it */
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

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Upstreams that are asked over TCP, with TLS or without: a few connections to
 * each, which are kept for a while and carry many questions at a time (RFC 7766
 * section 6.2).  Answers come in any order and are matched by connection and id
 * here, by question in the engine.
 *
 * A server may end a connection at any time, which is no fault: a question that
 * was under way is asked again at once by another one.  Servers differ; learnt
 * and forgotten after a while is
 *	one that ends each connection after an answer: each question has its own;
 *	one that answers in turn, and has questions wait behind a slow one: each
 *	connection carries one at a time.
 * So no question waits behind others' longer than with a connection of its own.
 *
 * TLS itself runs in nfdns-tls (nfq/tls/), which gets each connection's socket and one
 * end of a stream; without it, questions wait.  Nothing is ever asked in clear text
 * instead (RFC 8310 section 5.1).
 *
 * How many questions wait is for the engine to limit.  "now" is of CLOCK_BOOTTIME.
 */
#ifndef NFDNS_NFQ_UPSTREAM_TCP_UPSTREAMS_H
#define NFDNS_NFQ_UPSTREAM_TCP_UPSTREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "policy/config/forward_settings.h"
#include "resolver/clock.h"

/*
 * Questions for upstreams that are asked by streams: each waits for a connection,
 * or was sent by one.  A copy of its message is kept, so that it can be sent again.
 */

#define STREAM_QUESTION_LISTS 1024

TAILQ_HEAD(stream_question_list, stream_question);

struct stream_question {
	uint32_t attempt;
	uint16_t id;
	uint32_t connection;		/* that it was sent by; 0: none */
	bool answered;			/* something with its id has come */
	unsigned int again;		/* times that it was sent once more */
	int error;			/* of those that failed; negative */
	TAILQ_ENTRY(stream_question) by_attempt;
	TAILQ_ENTRY(stream_question) by_id;	/* while it is sent */
	struct stream_question_list *in;	/* of an upstream or connection, or of
					   those that failed */
	TAILQ_ENTRY(stream_question) entry;	/* of that */
	size_t length;
	uint8_t octets[];
};

/* What came of an attempt. */
struct stream_reply {
	uint32_t attempt;
	const struct forward_upstream *from;	/* of an answer; as octets: */
	const uint8_t *octets;		/* borrowed until the next call */
	size_t length;
	int error;			/* negative: it failed; else an answer */
};

/* Where they are found. */
struct stream_questions {
	struct stream_question_list by_attempt[STREAM_QUESTION_LISTS];
	struct stream_question_list by_id[STREAM_QUESTION_LISTS];
	struct stream_question_list failed;
};

void stream_questions_init(struct stream_questions *all);

/* A copy of a message of at least two octets, in no list.  NULL: no memory. */
struct stream_question *stream_question_new(struct stream_questions *all,
    uint32_t attempt, const uint8_t *octets, size_t length);

/* Puts it at the end of a list, out of the one that it is in. */
void stream_question_move(struct stream_question *q,
    struct stream_question_list *to);

void stream_question_free(struct stream_questions *all,
    struct stream_question *q);

/* NULL: there is none. */
struct stream_question *stream_question_of(struct stream_questions *all,
    uint32_t attempt);
struct stream_question *stream_question_by_id(struct stream_questions *all,
    uint32_t connection, uint16_t id);

/* It was sent by that connection; 0: not any more. */
void stream_question_sent(struct stream_questions *all,
    struct stream_question *q, uint32_t connection);

/* It failed, for a negative errno, and is not sent any more. */
void stream_question_fail(struct stream_questions *all,
    struct stream_question *q, int error);

/* Frees one that failed, and says which it was; false: there is none. */
bool stream_questions_failed(struct stream_questions *all,
    struct stream_reply *reply);

#define TCP_CONNECTIONS		4	/* to one upstream that answers */
#define TCP_CONNECTIONS_SLOW	8	/* with those that bring nothing now */
#define TCP_CONNECTIONS_ALL	8192
#define TCP_AT_ONCE		32	/* more on each: another connection */
#define TCP_SLOW_MS		250	/* a connection brings nothing */
#define TCP_IDLE_MS		10000	/* without questions: it is closed */
#define TCP_TUNNELS		16	/* over TLS to one upstream, in any case */

struct tcp_upstreams;

/* Counters; all only grow. */
struct tcp_stats {
	uint64_t connections;		/* that were made, */
	uint64_t resumed;		/* with a session of TLS that was there */
	uint64_t failed;		/* over TLS, without any answer */
	uint64_t again;			/* questions that were sent once more */
	uint64_t unasked;		/* answers that nobody asked for */
};

/* NULL without memory or files.  Sockets get that mark; 0: none. */
struct tcp_upstreams *tcp_upstreams_new(uint32_t mark, uint64_t seed);
/* Closes all.  NULL is allowed. */
void tcp_upstreams_free(struct tcp_upstreams *t);

/* A descriptor that is readable when tcp_upstreams_wait() has something to do. */
int tcp_upstreams_fd(const struct tcp_upstreams *t);

/*
 * engine_host.send.  The message leaves with tcp_upstreams_flush().  0 or a
 * negative errno.
 */
int tcp_upstreams_send(struct tcp_upstreams *t, monotime_t now,
    uint32_t attempt,
    const struct forward_upstream *to, const uint8_t *octets, size_t length)
    __attribute__((warn_unused_result));

/* engine_host.close: whether it is one of these attempts. */
bool tcp_upstreams_forget(struct tcp_upstreams *t, monotime_t now,
    uint32_t attempt);

/* Sends what was not sent yet. */
void tcp_upstreams_flush(struct tcp_upstreams *t);

/*
 * Takes what has happened to the connections, of which tcp_upstreams_receive()
 * brings the answers, one at a time.  False: there is none now.
 */
void tcp_upstreams_wait(struct tcp_upstreams *t);
bool tcp_upstreams_receive(struct tcp_upstreams *t, monotime_t now,
    struct stream_reply *reply);

/* The next attempt that has failed; false: there is none. */
bool tcp_upstreams_failed(struct tcp_upstreams *t, struct stream_reply *reply);

/* Connections begin that waited for nfdns-tls. */
void tcp_upstreams_begin(struct tcp_upstreams *t, monotime_t now);

/* When tcp_upstreams_tick() is needed; NEVER: not before another call. */
monotime_t tcp_upstreams_next(const struct tcp_upstreams *t);
void tcp_upstreams_tick(struct tcp_upstreams *t, monotime_t now);

/* A new channel to nfdns-tls, in place of the one there is; before a "begin". */
void tcp_upstreams_use_tls(struct tcp_upstreams *t, monotime_t now,
    int channel);

/*
 * Whether nfdns-tls is needed ("any": an upstream of the settings is asked over
 * TLS) and has not been asked for in the last second; then it counts as asked for.
 */
bool tcp_upstreams_want_tls(struct tcp_upstreams *t, monotime_t now, bool any);

/* Why the last connection over TLS to that upstream failed; "" if it did not. */
const char *tcp_upstreams_why(const struct tcp_upstreams *t,
    const struct forward_upstream *to);

/* Of connections with TLS or without. */
const struct tcp_stats *tcp_upstreams_stats(const struct tcp_upstreams *t,
    bool tls);

#endif

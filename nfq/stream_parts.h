/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the TCP thread share: stream.c (thread and time),
 * stream_accept.c (connections come in), stream_connection.c (the client's
 * end), stream_relay.c (the nameserver's end) and stream_opener.c (who opens
 * that, if we do not).  Nobody else includes this.
 *
 * An idle connection costs one struct stream_connection.  Octets are read into
 * the thread's one buffer and answered from there; only what is left over is
 * kept: part of a message, or what the client does not read.  Whoever does not
 * read is not read from, so neither can grow.
 */
#ifndef NFDNS_NFQ_STREAM_PARTS_H
#define NFDNS_NFQ_STREAM_PARTS_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfq/handover.h"
#include "nfq/intercept.h"
#include "nfq/opener_message.h"
#include "nfq/snapshot.h"
#include "nfq/stream_buffer.h"
#include "nfq/stream_clients.h"
#include "nfq/stream_frame.h"
#include "nfq/stream_listen.h"
#include "policy/audit.h"
#include "policy/config.h"
#include "policy/status.h"
#include "resolver/rr.h"

#define STREAM_READ	65536	/* octets a call */

enum stream_role { ROLE_WAKE, ROLE_OPENER, ROLE_LISTENER, ROLE_CLIENT,
	ROLE_SERVER };

/* What epoll knows: one descriptor. */
struct stream_end {
	enum stream_role role;
	int fd;				/* -1: none */
	uint32_t events;		/* registered for; 0: not at all */
	struct stream_connection *connection;	/* of CLIENT and SERVER */
};

union stream_name {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct stream_relay;			/* stream_relay.c */

/* Whether a relay waits for its socket: stream_opener.c. */
enum stream_wait {
	STREAM_WAITS_NOT,
	STREAM_WAITS,			/* for its turn */
	STREAM_ASKED_FOR,
};

struct stream_connection {
	struct stream_connection *next, *prev;	/* oldest activity first */
	struct stream_end client, server;
	union stream_name peer, name;	/* the client's, the nameserver's */
	struct stream_address address;	/* the client's, as it is counted */
	struct stream_buffer in;	/* from the client, not taken yet */
	struct stream_buffer out;	/* to the client */
	struct stream_relay *relay;	/* NULL: no question was relayed yet */
	int64_t active_ms;
	int64_t message_ms;		/* when a message began; 0: none has */
	int64_t unread_ms;		/* since when "out" waits; 0: it does not */
	bool raw;			/* relayed as a whole */
	bool ended;			/* the client has sent its last octet */
	bool throttled;			/* too many questions are in flight */
	bool closed;			/* waits to be freed */
	enum stream_wait wait;
	struct stream_connection *wait_next, *wait_prev;
};

/* Requests that may be without an answer at a time. */
#define STREAM_ASKED	64

/* The channel to who opens sockets, and who waits for some. */
struct stream_opener {
	bool used;			/* else we open them ourselves */
	bool lost;			/* and it was said */
	int control;			/* to the supervisor: for another channel */
	atomic_int fresh;		/* a new channel for the thread */
	struct stream_end end;		/* fd -1: no channel */
	int64_t wanted_ms;		/* when we asked for one */
	unsigned int oldest, count;	/* of those asked for */
	struct stream_connection *asked[STREAM_ASKED];	/* NULL: given up */
	struct stream_connection *first, *last;	/* those that wait for their turn */
};

struct stream {
	const struct config *config;
	struct status_worker *slot;
	struct audit *audit;
	unsigned int ring;
	int epoll;
	struct stream_end wake;		/* an eventfd: stop, or a new channel */
	struct stream_end listeners[STREAM_LISTENERS];
	bool paused;			/* out of descriptors: none is accepted */
	struct stream_opener opener;
	struct stream_clients *clients;
	struct stream_connection *first, *last;
	struct stream_connection *dead;	/* closed in this round */
	unsigned int count;
	int64_t now_ms;
	int64_t tick_ms;
	uint32_t rotation;
	uint64_t before[STREAM_COUNTERS];
	const struct snapshot *snapshot;	/* of this round */
	snapshot_place current, in_use;
	pthread_t thread;
	pthread_barrier_t up, begin;
	atomic_bool stopping;
	size_t output_used;
	/* What is for the client of the connection at hand. */
	uint8_t output[2 * STREAM_FRAME_MAX];
	uint8_t input[STREAM_FRAME_MAX + 2 * STREAM_READ];
};

/* stream.c */

void stream_count(struct stream *s, enum status_stream counter);

/* Has epoll look for "events" on an end, or for nothing. */
void stream_watch(struct stream *s, struct stream_end *end, uint32_t events);

/* Closes both ends; c and all that it holds are freed at the end of the round. */
void stream_close(struct stream *s, struct stream_connection *c);

/* A connection of the thread from now on. */
void stream_add(struct stream *s, struct stream_connection *c);

/* Address and port of a name; returns the address's length, 4 or 16. */
size_t stream_address_of(const union stream_name *name,
    uint8_t octets[static 16], uint16_t *port);

/* Has the thread look what there is to do. */
void stream_wake(struct stream *s);

/* One question's record.  answer may be NULL. */
struct stream_record {
	const struct decision *decision;
	const uint8_t *question, *answer;
	size_t question_length, answer_length;
	uint64_t received_ns;
};
void stream_record(struct stream *s, const struct stream_connection *c,
    const struct stream_record *record);

/* stream_accept.c */

/* Takes in what waits at a listener. */
void stream_accept(struct stream *s, struct stream_end *listener);

/* stream_connection.c: the client's end. */

void stream_client_ready(struct stream *s, struct stream_connection *c,
    uint32_t events);

/*
 * Takes in what waits for the thread, closes what has come to its end, and
 * tells epoll what to look for: to be called after anything has happened.
 */
void stream_settle(struct stream *s, struct stream_connection *c);

/* Closes a connection that has had its time. */
void stream_client_tick(struct stream *s, struct stream_connection *c);

/* Whether it is idle and nothing would be lost with it. */
bool stream_is_idle(const struct stream_connection *c);

/*
 * Puts a message, or in raw mode octets, out to the client; they are sent with
 * the next stream_flush().
 */
void stream_put_message(struct stream *s, struct stream_connection *c,
    const uint8_t *message, size_t length);
void stream_put_octets(struct stream *s, struct stream_connection *c,
    const uint8_t *octets, size_t length);
void stream_flush(struct stream *s, struct stream_connection *c);

/*
 * Writes an answer without records to a question that could not be relayed,
 * as stream_put_message().
 */
void stream_put_failure(struct stream *s, struct stream_connection *c,
    const uint8_t *question, size_t length, enum extended_error error);

/* stream_relay.c: the nameserver's end. */

/* Sends a question on; the answer comes, or SERVFAIL does. */
void stream_relay_question(struct stream *s, struct stream_connection *c,
    const uint8_t *message, size_t length);

/* From now on all octets go on as they are, beginning with these. */
void stream_relay_begin_raw(struct stream *s, struct stream_connection *c);
void stream_relay_octets(struct stream *s, struct stream_connection *c,
    const uint8_t *octets, size_t length);

/* The client has sent its last octet. */
void stream_relay_end(struct stream_connection *c);

void stream_relay_ready(struct stream *s, struct stream_connection *c,
    uint32_t events);

/* Whether another question, or more octets, can be taken. */
bool stream_relay_has_room(const struct stream *s,
    const struct stream_connection *c);

/* Whether the client still waits for something from there. */
bool stream_relay_is_busy(const struct stream_connection *c);

/* Sends what waits; sets what epoll looks for. */
void stream_relay_settle(struct stream *s, struct stream_connection *c);

/* What came of stream_opener_ask(): its socket, or a negative errno. */
void stream_relay_opened(struct stream *s, struct stream_connection *c, int fd);

void stream_relay_tick(struct stream *s, struct stream_connection *c);
void stream_relay_free(struct stream_connection *c);

/* stream_opener.c: sockets that another process opens. */

void stream_opener_init(struct stream *s, const struct worker_handover *h);
void stream_opener_close(struct stream *s);

/* For a connection to c's nameserver. */
struct opener_request stream_opener_request(const struct stream_connection *c);

/* Has a connection to c's nameserver opened: stream_relay_opened() follows. */
void stream_opener_ask(struct stream *s, struct stream_connection *c);
/* Nothing follows; for a connection that did not ask, it does nothing. */
void stream_opener_forget(struct stream *s, struct stream_connection *c);

/* The channel has something. */
void stream_opener_ready(struct stream *s);
/* There may be a new channel. */
void stream_opener_take(struct stream *s);
void stream_opener_tick(struct stream *s);

#endif

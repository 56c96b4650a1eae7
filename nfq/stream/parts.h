/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarations that the files of the TCP thread share.  Each file calls only
 * those above it in this list:
 *
 *   parts.c       counters, epoll, the audit
 *   output.c      octets for a client
 *   sockets.c     connections that nfdns-sockets opens
 *   chase.c       questions that need a CNAME's target from the nameserver
 *   pending.c     questions that the nameserver has not answered yet
 *   relay.c       the nameserver's end of a connection
 *   connection.c  the client's end
 *   places.c      all connections, and which one is closed for another
 *   accept.c      new connections
 *   stream.c      the thread: events and time
 *
 * Only these files and the tests of this room include this header.
 *
 * A step that finds that a connection is at its end does not close it.  It
 * returns STREAM_CLOSE, and so does each of its callers, up to stream.c.  There
 * the connection is only marked; it is closed and freed at the end of the
 * round.  So a connection stays valid until the function that got it returns.
 *
 * An idle connection costs one struct stream_connection.  Octets are read into
 * the thread's one buffer and answered from there.  Only the rest is kept: part
 * of a message, or octets that the client does not read.  From a client that
 * does not read, nothing is read either, so neither can grow.
 */
#ifndef NFDNS_NFQ_STREAM_PARTS_H
#define NFDNS_NFQ_STREAM_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "nfq/handover/handover.h"
#include "nfq/packet/intercept.h"
#include "nfq/sockets/address.h"
#include "nfq/sockets/message.h"
#include "nfq/handover/senders.h"
#include "nfq/thread/answering_thread.h"
#include "nfq/stream/buffer.h"
#include "nfq/stream/clients.h"
#include "nfq/stream/frame.h"
#include "nfq/stream/listen.h"
#include "resolver/clock.h"
#include "policy/config/settings.h"
#include "policy/status/status.h"
#include "resolver/answer/chase.h"
#include "resolver/dns/rr.h"

#define STREAM_READ	65536	/* octets a call */
#define STREAM_EVENTS	64	/* a round */

/* The next thing to do with a connection after a step. */
enum stream_next {
	STREAM_GO_ON,
	STREAM_CLOSE,			/* and nothing else: return it */
	STREAM_WANTS_RAW,		/* if places.c has a place */
};

/* The compiler warns of a result that is not used, even by (void). */
#define STREAM_STEP	__attribute__((warn_unused_result))

enum stream_role {
	ROLE_WAKE,
	ROLE_SOCKETS,
	ROLE_LISTENER,
	ROLE_CLIENT,
	ROLE_SERVER
};

/* One descriptor, as epoll knows it. */
struct stream_end {
	enum stream_role role;
	int fd;				/* -1: none */
	uint32_t events;		/* registered for; 0: not at all */
	struct stream_connection *connection;	/* of CLIENT and SERVER */
};

struct stream_relay;			/* relay.c */

/* Whether a relay waits for its socket: sockets.c. */
enum stream_wait {
	STREAM_WAITS_NOT,
	STREAM_WAITS,			/* for its turn */
	STREAM_ASKED_FOR,
	STREAM_REFUSED,			/* in vain, and is to be told so */
};

struct stream_connection {
	TAILQ_ENTRY(stream_connection) in_all;	/* or in the dead ones */
	TAILQ_ENTRY(stream_connection) in_client;
	TAILQ_ENTRY(stream_connection) in_raws;
	TAILQ_ENTRY(stream_connection) in_waiting;
	struct stream_end client, server;
	union sockets_address peer, name;	/* the client's, the nameserver's */
	struct sender sender;		/* what the queue knew of the client */
	struct stream_client *of;	/* whose it is; NULL: closed */
	struct stream_buffer in;	/* from the client, not taken yet */
	struct stream_buffer out;	/* to the client */
	struct stream_relay *relay;	/* NULL: no question was relayed yet */
	monotime_t active;		/* when something last happened */
	monotime_t message_since;	/* when a message began; never: none has */
	monotime_t unread_since;	/* "out" waits; never: it does not */
	monotime_t raw_since;		/* when it got its place; never: none */
	bool raw;			/* relayed as a whole */
	bool ended;			/* the client has sent its last octet */
	bool throttled;			/* too many questions are in flight */
	bool raw_waits;			/* to be raw, once nothing is chased */
	bool closed;			/* marked: freed after this round */
	enum stream_wait wait;
};

/* Requests that may be without an answer at a time. */
#define STREAM_ASKED	64

/* The channel to nfdns-sockets, and the connections that wait for a socket. */
struct stream_sockets {
	bool used;			/* else we open them ourselves */
	bool lost;			/* and it was said */
	int control;			/* to the supervisor: for another channel */
	atomic_int fresh;		/* a new channel for the thread */
	struct stream_end end;		/* fd -1: no channel */
	monotime_t wanted;		/* when we asked for one */
	int error;			/* of the channel that is gone */
	unsigned int oldest, count;	/* of those asked for */
	struct stream_connection *asked[STREAM_ASKED];	/* NULL: given up */
	struct stream_list waiting;	/* for their turn, in order */
};

struct stream {
	struct answering_thread thread;
	const struct worker_options *options;
	struct stream_settings limits;	/* of the generation in use */
	int epoll;
	struct stream_end wake;		/* an eventfd: there is a new channel */
	struct stream_end listeners[STREAM_LISTENERS];
	bool paused;			/* out of descriptors: none is accepted */
	struct stream_sockets sockets;
	struct senders *senders;	/* NULL: no user is known */
	struct stream_clients *clients;
	struct stream_list all;		/* oldest activity first, so each client's */
	struct stream_list raws;	/* in the order in which they became raw */
	struct stream_list dead;	/* closed in this round */
	unsigned int count, raw_count;
	uint64_t files_max;		/* that this process may have open */
	monotime_t ticked;
	size_t output_used;
	/* Octets for the client of the connection at hand. */
	uint8_t output[2 * STREAM_FRAME_MAX];
	uint8_t input[STREAM_FRAME_MAX + 2 * STREAM_READ];
};

/* parts.c */

void stream_count(struct stream *s, enum status_stream counter);

/* Has epoll look for "events" on an end, or for nothing. */
void stream_watch(struct stream *s, struct stream_end *end, uint32_t events);

/* Closes the descriptor of an end, if it has one. */
void stream_close_end(struct stream *s, struct stream_end *end);

/* Has the thread look what there is to do.  From any thread. */
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

/*
 * output.c: octets for the client of the connection at hand are collected in
 * the thread's buffer.  A put sends some of it if there is no room, and what a
 * step has put it flushes before it returns STREAM_GO_ON.
 */

/* Room for so many octets, at *room; stream_put_answer() may follow. */
enum stream_next stream_reserve(struct stream *s, struct stream_connection *c,
    size_t length, uint8_t **room) STREAM_STEP;

/*
 * Finishes an answer that stands in a reserved STREAM_FRAME_MAX behind room for
 * the prefix: with options, as stream_options_add(), if the question had EDNS.
 * STREAM_OPTIONS_ROOM should be left for them.  Returns the answer's length.
 */
size_t stream_put_answer(struct stream *s, uint8_t *room, size_t length,
    const struct edns *asked, enum extended_error error);

/* How much of a message an answer may take if such options follow it. */
size_t stream_answer_room(const struct edns *asked);

/* A whole message, or in raw mode octets. */
enum stream_next stream_put_message(struct stream *s,
    struct stream_connection *c, const uint8_t *message, size_t length)
    STREAM_STEP;
enum stream_next stream_put_octets(struct stream *s,
    struct stream_connection *c, const uint8_t *octets, size_t length)
    STREAM_STEP;

/* An answer without records to a question that could not be relayed. */
enum stream_next stream_put_failure(struct stream *s,
    struct stream_connection *c, const uint8_t *question, size_t length,
    enum extended_error error) STREAM_STEP;

/* Sends what was put; what the socket does not take waits in c->out. */
enum stream_next stream_flush(struct stream *s, struct stream_connection *c)
    STREAM_STEP;

/* Sends what waits in c->out. */
enum stream_next stream_send_waiting(struct stream *s,
    struct stream_connection *c) STREAM_STEP;

/* sockets.c: sockets that nfdns-sockets opens. */

void stream_sockets_init(struct stream *s, const struct worker_handover *h);
void stream_sockets_close(struct stream *s);

/* For a connection to c's nameserver that is routed as c itself. */
struct sockets_request stream_sockets_request(
    const struct stream_connection *c);

/* Has a connection to c's nameserver opened: stream_sockets_next() has it. */
void stream_sockets_ask(struct stream *s, struct stream_connection *c);
/* Nothing follows; for a connection that did not ask, it does nothing. */
void stream_sockets_forget(struct stream *s, struct stream_connection *c);

/* The outcome of stream_sockets_ask(). */
struct stream_opened {
	struct stream_connection *connection;
	int fd;				/* its socket, or a negative errno */
};

/*
 * The next one that waits no more; false: nothing more has come.  To be called
 * until then when the channel has something, and after stream_sockets_take().
 */
bool stream_sockets_next(struct stream *s, struct stream_opened *opened);

/* As stream_take_sockets(), from another thread. */
void stream_sockets_give(struct stream *s, int channel);
/* Takes what was given. */
void stream_sockets_take(struct stream *s);
void stream_sockets_tick(struct stream *s);

/* chase.c: questions that need a CNAME's target from the nameserver. */

struct stream_chase;

/* Copies what was intercepted as an ANSWER_CHAIN.  NULL for lack of memory. */
struct stream_chase *stream_chase_new(const struct interception *i,
    const uint8_t *question, size_t length, uint64_t received_ns);
void stream_chase_free(struct stream_chase *chase);
size_t stream_chase_octets(const struct stream_chase *chase);
uint16_t stream_chase_id(const struct stream_chase *chase);

/* The question for the target, as chase_question() writes it. */
size_t stream_chase_question(const struct stream_chase *chase, uint16_t id,
    uint8_t buf[static CHASE_QUESTION_MAX]);

/*
 * The answer, from what the nameserver said: where that is no DNS message or is
 * too long, and where it said nothing, the chain and SERVFAIL.
 */
enum stream_next stream_put_chase(struct stream *s,
    struct stream_connection *c, const struct stream_chase *chase,
    const uint8_t *message, size_t length) STREAM_STEP;
enum stream_next stream_put_chase_failure(struct stream *s,
    struct stream_connection *c, const struct stream_chase *chase,
    enum extended_error error) STREAM_STEP;

/* relay.c: the nameserver's end. */

/* Sends a question on; the answer comes, or SERVFAIL does. */
enum stream_next stream_relay_question(struct stream *s,
    struct stream_connection *c, const uint8_t *message, size_t length)
    STREAM_STEP;

/* Asks for a chain's target: the answer comes, or SERVFAIL.  Takes chase. */
enum stream_next stream_relay_chase(struct stream *s,
    struct stream_connection *c, struct stream_chase *chase) STREAM_STEP;

/*
 * Whether the connection may become raw now.  While a target is asked for it
 * may not, since the answer to that is none to the client: then no message is
 * taken until it may.
 */
bool stream_relay_may_be_raw(struct stream_connection *c);

/* From now on all octets go on as they are, beginning with these. */
enum stream_next stream_relay_begin_raw(struct stream *s,
    struct stream_connection *c) STREAM_STEP;
enum stream_next stream_relay_octets(struct stream_connection *c,
    const uint8_t *octets, size_t length) STREAM_STEP;

/* The client of a raw connection has sent its last octet. */
void stream_relay_end(struct stream_connection *c);

/* Its socket has something. */
enum stream_next stream_relay_ready(struct stream *s,
    struct stream_connection *c, uint32_t events) STREAM_STEP;

/* Its socket is there, fd, or is not, a negative errno. */
enum stream_next stream_relay_opened(struct stream *s,
    struct stream_connection *c, int fd) STREAM_STEP;

/* Sends what waits; sets what epoll looks for. */
enum stream_next stream_relay_settle(struct stream *s,
    struct stream_connection *c) STREAM_STEP;

/* Gives up a nameserver that has had its time. */
enum stream_next stream_relay_tick(struct stream *s,
    struct stream_connection *c) STREAM_STEP;

/* Whether another question, or more octets, can be taken. */
bool stream_relay_has_room(const struct stream *s,
    const struct stream_connection *c);

/* Whether the client still waits for something from there. */
bool stream_relay_is_busy(const struct stream_connection *c);

void stream_relay_free(struct stream_connection *c);

/* connection.c: the client's end. */

/* After STREAM_WANTS_RAW, if there is a place. */
enum stream_next stream_client_begin_raw(struct stream *s,
    struct stream_connection *c) STREAM_STEP;

/* Its socket has something. */
enum stream_next stream_client_ready(struct stream *s,
    struct stream_connection *c, uint32_t events) STREAM_STEP;

/*
 * Takes in what waits for the thread, finds whether it has come to its end, and
 * tells epoll what to look for: the last step after any other.
 */
enum stream_next stream_client_settle(struct stream *s,
    struct stream_connection *c) STREAM_STEP;

/* Whether it has had its time. */
enum stream_next stream_client_tick(struct stream *s,
    struct stream_connection *c) STREAM_STEP;

/* Whether it is idle and nothing would be lost with it. */
bool stream_is_idle(const struct stream_connection *c);

/* places.c */

/* A connection that has come. */
struct stream_arrival {
	int fd;				/* -1: it was refused */
	union sockets_address peer, name;
};

/*
 * A connection of the thread from now on, with its socket taken over; NULL, and
 * the socket is closed, if there is no place for it.
 */
struct stream_connection *stream_welcome(struct stream *s,
    const struct stream_arrival *arrival);

/* It has the newest activity. */
void stream_touch(struct stream *s, struct stream_connection *c);

/* Marks an idle connection of the client with most; false if there is none. */
bool stream_evict(struct stream *s);
/* Marks the one that is idle longest; false if there is none. */
bool stream_evict_idle(struct stream *s);

/*
 * A raw place for c, which it has until it is closed; false: there is none, and
 * no other client has more of them than c's client would have.
 */
bool stream_admit_raw(struct stream *s, struct stream_connection *c);

/* Marks it: nothing more is done on it, and its place is free. */
void stream_mark_closed(struct stream *s, struct stream_connection *c);

/* Closes and frees those that are marked.  No step is under way. */
void stream_free_closed(struct stream *s);

/* accept.c */

/* Takes the next one that waits at a listener; false: none does. */
bool stream_accept(struct stream *s, struct stream_end *listener,
    struct stream_arrival *arrival);

/* Listeners that paused for want of descriptors are looked at again. */
void stream_accept_again(struct stream *s);

/* stream.c */

/* As stream_start(), but nothing runs: stream_round() is its life. */
int stream_new(struct stream **stream, struct answering_threads *threads,
    const struct worker_handover *h, unsigned int number)
    __attribute__((warn_unused_result));
void stream_free(struct stream *s);

/* A connection comes in; its socket is taken over.  In the thread. */
void stream_arrive(struct stream *s, const struct stream_arrival *arrival);

/* One round: the events of s->epoll, at this time. */
void stream_round(struct stream *s, const struct epoll_event *events,
    int count, monotime_t now);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarations that the files of the TCP thread share.  Each file calls only
 * those above it in this list:
 *
 *   parts.c       counters, epoll, the audit
 *   output.c      octets for a client
 *   relay.c       the nameserver's end of a connection, and the questions that it
 *                 has not answered yet
 *   ask.c         questions that are asked upstreams: names of forward domains, and
 *                 ends of chains of CNAMEs that leave the table
 *   connection.c  the client's end
 *   places.c      all connections, and which one is closed for another
 *   stream.c      the thread: new connections, events and time
 *
 * Only these files and the tests of this room include this header.
 *
 * "Connection" means the client's connection, with the one to its nameserver,
 * if there is one.  A raw connection is one whose client has sent a message to
 * which there may be any answers, or none (a zone transfer, what the parser leaves
 * alone): messages of the nameserver go to the client whether a question waits for
 * them or not.  What the client sends is framed and judged message by message on
 * each connection, as long as it lasts, or policies would end with the first such
 * message.
 *
 * A step that finds that a connection has ended does not close it.  It returns
 * STREAM_CLOSE, and so does each of its callers, up to stream.c, which marks
 * the connection.  Marked connections are closed and freed at the end of the
 * round, so a connection stays valid until the function that was given it
 * returns.
 *
 * An idle connection takes the memory of one struct stream_connection.  Octets
 * are read into one buffer of the thread and answered from there.  Only what is
 * left is kept in the connection: a message that is not whole, or octets that
 * the client has not read.  While a client does not read, nothing is read from
 * it, so neither of the two can grow without limit.
 */
#ifndef NFDNS_NFQ_STREAM_PARTS_H
#define NFDNS_NFQ_STREAM_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "nfq/handover/handover.h"
#include "nfq/packet/intercept.h"
#include "nfq/sockets/open.h"
#include "nfq/handover/senders.h"
#include "nfq/thread/answering_thread.h"
#include "nfq/upstream/forwarder.h"
#include "nfq/stream/listen.h"
#include "resolver/clock.h"
#include "policy/config/settings.h"
#include "policy/status/status.h"
#include "resolver/dns/rr.h"

/*
 * The clients of the TCP thread, how many connections each has, and which has
 * the most.  A client is a user of this machine, or, if the user is not known,
 * an address.
 */

struct stream_connection;
TAILQ_HEAD(stream_list, stream_connection);

struct stream_client_key {
	uid_t uid;			/* (uid_t)-1: unknown */
	uint8_t address[16];		/* if the user is unknown; else zeros */
};

struct stream_client {
	struct stream_client_key key;
	unsigned int connections;
	unsigned int raw;		/* of these; the caller's */
	struct stream_list list;	/* of them; the caller's */
	LIST_ENTRY(stream_client) same_hash, same_count;
};

struct stream_clients;

/* For up to so many connections.  NULL: out of memory. */
struct stream_clients *stream_clients_new(size_t connections);
/*
 * For so many from now on, if that is more.  0, or -ENOMEM and nothing changed.
 */
int stream_clients_grow(struct stream_clients *clients, size_t connections)
    __attribute__((warn_unused_result));
/* All connections must have been removed.  NULL is allowed. */
void stream_clients_free(struct stream_clients *clients);

/* Counts one more connection of a client.  NULL: out of memory. */
struct stream_client *stream_clients_add(struct stream_clients *clients,
    const struct stream_client_key *key);

/* Counts one less; a client whose last one this was is freed. */
void stream_clients_remove(struct stream_clients *clients,
    struct stream_client *client);

/* A client that has as many connections as any.  NULL: there are no clients. */
struct stream_client *stream_clients_largest(
    const struct stream_clients *clients);

/* DNS messages in a TCP stream: each follows its length (RFC 1035 4.2.2). */

#define STREAM_PREFIX		2
#define STREAM_MESSAGE_MAX	65535
#define STREAM_FRAME_MAX	(STREAM_PREFIX + STREAM_MESSAGE_MAX)

/* A view of received octets from which no message has been taken yet. */
struct stream_input {
	const uint8_t *octets;
	size_t left;
};

/*
 * Takes the next message; *message borrows from input.  Returns false, and
 * takes nothing, if the message is not whole.  A message may be empty.
 */
bool stream_frame_next(struct stream_input *input, const uint8_t **message,
    size_t *length);

/* Writes the length of the message that will follow. */
void stream_frame_put(uint8_t prefix[static STREAM_PREFIX], size_t length);

/* A queue of octets, which takes memory only while it is not empty. */

struct stream_buffer {
	uint8_t *octets;		/* owned; NULL when empty */
	size_t start, end;		/* what is left of them */
};

static inline size_t
stream_buffer_length(const struct stream_buffer *buffer)
{
	return buffer->end - buffer->start;
}

/* Appends a copy.  0; or -ENOMEM, and nothing was appended. */
int stream_buffer_put(struct stream_buffer *buffer, const uint8_t *octets,
    size_t length) __attribute__((warn_unused_result));

/* Removes the first octets, at most all that there are. */
void stream_buffer_take(struct stream_buffer *buffer, size_t length);

/* Removes all octets and frees the memory. */
void stream_buffer_clear(struct stream_buffer *buffer);

#define STREAM_READ	65536	/* octets a call */
#define STREAM_TURN	4096	/* of questions, before others have their turn */
#define STREAM_EVENTS	64	/* a round */

/* What to do with a connection after a step. */
enum stream_next {
	STREAM_GO_ON,
	STREAM_CLOSE,			/* close it: the caller returns this, too */
	STREAM_WANTS_RAW,		/* make it raw, if stream_admit_raw() can */
};

/* The compiler warns if the result is not used, even with (void). */
#define STREAM_STEP	__attribute__((warn_unused_result))

enum stream_role {
	ROLE_LISTENER,
	ROLE_CLIENT,
	ROLE_SERVER
};

/* A descriptor that epoll watches. */
struct stream_end {
	enum stream_role role;
	int fd;				/* -1: none */
	uint32_t events;		/* that epoll waits for; 0: not registered */
	struct stream_connection *connection;	/* of ROLE_CLIENT, ROLE_SERVER */
};

struct stream_relay;			/* relay.c */

enum stream_asked_state {
	STREAM_ASKED,			/* the engine has it */
	/* In the list of those that are answered, at their turn: */
	STREAM_ANSWERED,
	STREAM_PASSED,		/* the nameserver is to be asked */
	STREAM_FAILED,
};

/* A question of a client that is asked upstreams. */
struct stream_asked {
	struct engine_client client;	/* first */
	struct stream_connection *connection;	/* NULL: nobody waits any more */
	LIST_ENTRY(stream_asked) in_connection;
	TAILQ_ENTRY(stream_asked) entry;	/* of the thread's asked or answered */
	enum stream_asked_state state;
	uint8_t *answer;		/* if it is answered: a DNS message */
	size_t answer_length;
	struct chase chase;		/* of octets[], if its end is asked for, */
	struct engine_end end;		/* by this question */
	uint16_t chain_options;		/* octets of options in the OPT that ends it */
	/* For the record of the answer. */
	struct decision decision;
	struct policy_note note;
	uint64_t received_ns;
	size_t length;			/* of the question, */
	uint8_t octets[];		/* a DNS message; the chain is behind it */
};

TAILQ_HEAD(stream_asked_list, stream_asked);

struct stream_connection {
	TAILQ_ENTRY(stream_connection) in_all;	/* or in the closed ones */
	TAILQ_ENTRY(stream_connection) in_client;
	TAILQ_ENTRY(stream_connection) in_raws;
	struct stream_end client, server;
	union sockets_address peer, name;	/* of the client, the nameserver */
	struct sender sender;		/* what the queue knew of the client */
	struct stream_client *of;	/* the client; NULL if closed */
	struct stream_buffer in;	/* from the client, not handled yet */
	struct stream_buffer out;	/* to the client */
	struct stream_relay *relay;	/* NULL: no question was relayed yet */
	monotime_t active;		/* last activity */
	monotime_t message_since;	/* an incomplete message began; or never */
	monotime_t unread_since;	/* "out" is not empty since; or never */
	monotime_t raw_since;		/* has a raw place since; or never */
	bool decided;			/* so was the first message that waits:
					 * its tokens are taken, it is counted */
	bool raw;			/* the nameserver's messages are not matched */
	bool ended;			/* the client has sent its last octet */
	bool throttled;			/* too many questions are in flight */
	bool closed;			/* marked: freed at the end of the round */
	LIST_HEAD(, stream_asked) questions;	/* that are asked upstreams */
	unsigned int question_count;
	size_t question_octets;
};

struct stream {
	struct answering_thread thread;
	const struct worker_options *options;
	int (*open)(const struct sockets_request *request, uint32_t mark);
	struct stream_settings limits;	/* of the generation in use */
	int epoll;
	struct forwarder *forwarder;	/* NULL in tests, which have their own: */
	void (*ask)(struct stream *s, struct stream_asked *question);
	struct epoll_event replies[FORWARDER_EVENTS];	/* of this round, */
	int reply_count;		/* so many */
	struct stream_asked_list asked, answered;	/* in this order */
	unsigned int answered_count;
	size_t answered_octets;		/* of their answers */
	struct stream_end listeners[STREAM_LISTENERS];
	bool paused;			/* no descriptors: nothing is accepted */
	struct senders *senders;	/* NULL: senders are not known */
	struct stream_clients *clients;
	struct stream_list all;		/* oldest activity first; as each client's */
	struct stream_list raws;	/* with a raw place, oldest first */
	struct stream_list dead;	/* closed in this round */
	unsigned int count, raw_count;
	uint64_t files_max;		/* files that the process may have open */
	monotime_t ticked;		/* when timeouts were last checked */
	size_t output_used;
	/* Octets for the client of the current connection. */
	uint8_t output[2 * STREAM_FRAME_MAX];
	uint8_t input[STREAM_FRAME_MAX + 2 * STREAM_READ];
};

/* parts.c */

/* Who asks on the connection, in this round.  Borrows the addresses of c. */
struct asker stream_asker(const struct stream *s,
    const struct stream_connection *c);

void stream_count(struct stream *s, enum status_stream counter);

/* Makes epoll wait for these events on an end; 0: for none. */
void stream_watch(struct stream *s, struct stream_end *end, uint32_t events);

/* Closes the end's descriptor, if it has one. */
void stream_close_end(struct stream *s, struct stream_end *end);

/* A question that was decided.  answer may be NULL. */
struct stream_record {
	const struct decision *decision;
	const uint8_t *question, *answer;
	size_t question_length, answer_length;
	uint64_t received_ns;		/* as of the round that read it */
	struct policy_note note;
};

/* Writes an audit record, if the decision is to be recorded. */
void stream_record(struct stream *s, const struct stream_connection *c,
    const struct stream_record *record);

/*
 * output.c: octets for the client of the current connection are collected in
 * the thread's buffer.  If there is no room, a put sends what is there.  A step
 * that puts something calls stream_flush() before it returns STREAM_GO_ON.
 */

/* Reserves room for so many octets, at *room, for stream_put_answer(). */
enum stream_next stream_reserve(struct stream *s, struct stream_connection *c,
    size_t length, uint8_t **room) STREAM_STEP;

/*
 * Finishes an answer of "length" octets at room + STREAM_PREFIX, where "room"
 * is a reserved STREAM_FRAME_MAX: adds options as stream_options_add(), for
 * which STREAM_OPTIONS_ROOM should be left, behind "present" octets of options
 * that the OPT has already, and the prefix.  Returns the length
 * of the answer without the prefix.
 */
size_t stream_put_answer(struct stream *s, uint8_t *room, size_t length,
    const struct edns *asked, enum extended_error error, uint16_t present);

/* The largest answer that leaves room for the options that were asked for. */
size_t stream_answer_room(const struct edns *asked);

/* Puts a message with its prefix. */
enum stream_next stream_put_message(struct stream *s,
    struct stream_connection *c, const uint8_t *message, size_t length)
    STREAM_STEP;

/*
 * Puts SERVFAIL for a question that could not be asked elsewhere, and records it: "of"
 * has the question, and its decision unless it was relayed.
 */
enum stream_next stream_put_failure(struct stream *s,
    struct stream_connection *c, const struct stream_record *of,
    enum extended_error error) STREAM_STEP;

/* Sends what was put.  What the socket does not take waits in c->out. */
enum stream_next stream_flush(struct stream *s, struct stream_connection *c)
    STREAM_STEP;

/* Sends what waits in c->out. */
enum stream_next stream_send_waiting(struct stream *s,
    struct stream_connection *c) STREAM_STEP;

/* ask.c: questions that are asked upstreams. */

/* Whether the connection may have one more of them. */
bool stream_ask_has_room(const struct stream_connection *c);

/*
 * Has the question asked, or the end of the chain that its answer is; if that cannot
 * be, the client gets SERVFAIL.
 */
enum stream_next stream_ask(struct stream *s, struct stream_connection *c,
    const struct interception *i, const uint8_t *message, size_t length)
    STREAM_STEP;

/* One that is answered ends; the caller calls stream_flush(). */
enum stream_next stream_ask_end(struct stream *s,
    struct stream_asked *question) STREAM_STEP;
void stream_ask_free(struct stream *s, struct stream_asked *question);

/*
 * Nobody waits for c's any more.  They count for their user until they are answered:
 * who goes and comes again asks no more than others.
 */
void stream_ask_forget(struct stream *s, struct stream_connection *c);

/* How a question of the thread is answered; the octets are copied.  For tests. */
void stream_ask_answer(struct stream *s, struct stream_asked *question,
    enum stream_asked_state state, const uint8_t *octets, size_t length);

/* The thread's own engine has clients that are such questions; arg is the thread. */
extern const struct forwarder_clients stream_ask_clients;

/* relay.c: the nameserver's end. */

/*
 * Relays a question to the nameserver that the client addressed.  The client
 * gets the answer, or SERVFAIL.  unmatched: the connection is raw, and the message
 * is forgotten when it is sent.
 */
enum stream_next stream_relay_question(struct stream *s,
    struct stream_connection *c, const uint8_t *message, size_t length,
    bool unmatched) STREAM_STEP;

/* Handles events of the nameserver's socket. */
enum stream_next stream_relay_ready(struct stream *s,
    struct stream_connection *c, uint32_t events) STREAM_STEP;

/* Sends what waits, and sets the events that epoll waits for. */
enum stream_next stream_relay_settle(struct stream *s,
    struct stream_connection *c) STREAM_STEP;

/* Gives up a nameserver that did not answer in time. */
enum stream_next stream_relay_tick(struct stream *s,
    struct stream_connection *c) STREAM_STEP;

/* Whether it can take another question, or more octets. */
bool stream_relay_has_room(const struct stream_connection *c);

/* Whether the client waits for something from the nameserver. */
bool stream_relay_is_busy(const struct stream_connection *c);

void stream_relay_free(struct stream_connection *c);

/* connection.c: the client's end. */

/* Makes the connection raw, after stream_admit_raw() has given it a place. */
enum stream_next stream_client_begin_raw(struct stream *s,
    struct stream_connection *c) STREAM_STEP;

/* Handles events of the client's socket. */
enum stream_next stream_client_ready(struct stream *s,
    struct stream_connection *c, uint32_t events) STREAM_STEP;

/*
 * The last step after any other: handles messages that waited for room, finds
 * out whether the connection has ended, and sets the events that epoll waits
 * for.
 */
enum stream_next stream_client_settle(struct stream *s,
    struct stream_connection *c) STREAM_STEP;

/* Finds out whether one of its timeouts is over. */
enum stream_next stream_client_tick(struct stream *s,
    struct stream_connection *c) STREAM_STEP;

/* Whether it is idle, so that closing it loses nothing. */
bool stream_is_idle(const struct stream_connection *c);

/* places.c */

/* A connection that was accepted. */
struct stream_arrival {
	int fd;				/* -1: it was refused, and is closed */
	union sockets_address peer, name;	/* of the client, the nameserver */
};

/*
 * Makes it a connection of the thread, which owns its socket from then on.
 * Returns NULL, and closes the socket, if there is no place for it.
 */
struct stream_connection *stream_welcome(struct stream *s,
    const struct stream_arrival *arrival);

/* Moves it to the end of the lists by activity. */
void stream_touch(struct stream *s, struct stream_connection *c);

/* Marks an idle connection of the client with most.  False: there is none. */
bool stream_evict(struct stream *s);
/* Marks the connection that is idle longest.  False: none is idle. */
bool stream_evict_idle(struct stream *s);

/*
 * Gives c a raw place, which it has until it is closed.  If all are taken,
 * marks a connection of the client with most of them, if c's client has at
 * least two fewer.  Returns false if there is no place.
 */
bool stream_admit_raw(struct stream *s, struct stream_connection *c);

/* Marks it as closed: nothing more is done on it, and its place is free. */
void stream_mark_closed(struct stream *s, struct stream_connection *c);

/* Closes and frees all that are marked.  No step may be under way. */
void stream_free_closed(struct stream *s);

/* stream.c */

/* As stream_start(), but without a thread: the caller calls stream_round(). */
int stream_new(struct stream **stream, struct answering_threads *threads,
    const struct worker_handover *h, unsigned int number)
    __attribute__((warn_unused_result));
void stream_free(struct stream *s);

/* Handles a connection that was accepted, and owns its socket. */
void stream_arrive(struct stream *s, const struct stream_arrival *arrival);

/* One round: handles these events of s->epoll, at this time. */
void stream_round(struct stream *s, const struct epoll_event *events,
    int count, monotime_t now);

#endif

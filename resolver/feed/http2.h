/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One HTTP/2 connection with one stream at a time on it: a gRPC call that both
 * sides keep open, or a GET.  Octets in, octets out: it knows no socket and no
 * time.  nghttp2's callbacks stay inside; what they find is read from
 * http2_state().
 */
#ifndef NFDNS_RESOLVER_FEED_HTTP2_H
#define NFDNS_RESOLVER_FEED_HTTP2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/feed/feed.h"
#include "resolver/clock.h"

/*
 * Windows of the stream and of the connection: with the default of 64 KiB, a
 * table of 40 MB takes half a minute over 50 ms.
 */
#define HTTP2_WINDOW	(4 << 20)
#define HTTP2_HEADERS_MOST ((size_t)64 << 10)	/* octets of one block */
/* Requests that the peer has not taken: its window is closed. */
#define HTTP2_UNSENT_MOST ((size_t)256 << 10)
/* Frames of the peer that carry nothing, between two messages. */
#define HTTP2_IDLE_FRAMES 10000

struct http2;

struct http2_header {
	const char *name;		/* lower case */
	const char *value;
};

/* All of it is copied. */
struct http2_request {
	const char *scheme;		/* "https" or "http" */
	const char *authority;
	const char *path;
	const struct http2_header *headers;
	size_t header_count;
};

/* What comes of a GET, as it comes. */
struct http2_reader {
	void *arg;
	/* The status, and seconds of Retry-After, or 0. */
	void (*head)(void *arg, unsigned int status, unsigned int retry_after);
	/* False: no more of it is wanted, the call ends. */
	bool (*body)(void *arg, const uint8_t *octets, size_t length);
};

struct http2_state {
	bool settled;			/* the peer's SETTINGS are here */
	bool going;			/* it has sent a GOAWAY */
	bool too_many_pings;		/* and that is why */
	bool whole;			/* the GET was answered; another may follow */
	bool ended;			/* the call is over, because: */
	enum feed_cause cause;
	unsigned int status;		/* gRPC's, or what stands for it */
	char why[FEED_TEXT];		/* printable */
};

/* "limit": octets of one message.  NULL: no memory.  free accepts NULL. */
struct http2 *http2_new(uint64_t limit) __attribute__((warn_unused_result));
void http2_free(struct http2 *http2);

/* Opens the stream of a gRPC call; once.  0 or -ENOMEM. */
int http2_call(struct http2 *http2, const struct http2_request *request)
    __attribute__((warn_unused_result));

/* Begins a GET, after the one before was whole.  0 or -ENOMEM. */
int http2_get(struct http2 *http2, const struct http2_request *request,
    const struct http2_reader *reader) __attribute__((warn_unused_result));

/*
 * Sends a message.  0, -ENOMEM, -EMSGSIZE, or -ENOBUFS while the peer does not
 * take those before it.
 */
int http2_send(struct http2 *http2, const void *octets, size_t length)
    __attribute__((warn_unused_result));

/* No message will follow: for a call with one request. */
void http2_send_end(struct http2 *http2);

void http2_ping(struct http2 *http2);
void http2_cancel(struct http2 *http2);	/* RST_STREAM, CANCEL */

/* Octets from the peer.  All are taken; whether they are sound is in the state. */
void http2_receive(struct http2 *http2, const uint8_t *octets, size_t length);

/* The next whole message, which the caller frees; NULL: there is none. */
uint8_t *http2_message(struct http2 *http2, size_t *length);

/* Octets that are here of a message that is not whole; 0: there is none. */
size_t http2_inside(const struct http2 *http2);

/*
 * A message that is announced, and its octets, for which memory is taken as they
 * come; 0: there is none, or it waits for room.
 */
size_t http2_coming(const struct http2 *http2);
bool http2_waits(const struct http2 *http2);

/*
 * So many octets of other messages are in memory, with those of http2_message()
 * until this is called again.  A message for which that leaves no room waits: the
 * peer may send a window of it, and pings go on.
 */
void http2_hold(struct http2 *http2, uint64_t octets);

/* What is to be written next; false: nothing.  Then how much of it was. */
bool http2_output(struct http2 *http2, const uint8_t **octets, size_t *length);
void http2_written(struct http2 *http2, size_t length);

const struct http2_state *http2_state(const struct http2 *http2);

/*
 * gRPC over HTTP/2 (grpc.io, PROTOCOL-HTTP2.md): messages behind five octets,
 * and how a call's end is told.  Pure: octets and header fields come in,
 * messages and a status come out.
 */

#define GRPC_PREFIX	5		/* octets: a flag and the length */

enum grpc_status {
	GRPC_OK = 0,
	GRPC_CANCELLED = 1,
	GRPC_UNKNOWN = 2,
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_PERMISSION_DENIED = 7,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_UNIMPLEMENTED = 12,
	GRPC_INTERNAL = 13,
	GRPC_UNAVAILABLE = 14,
	GRPC_UNAUTHENTICATED = 16,
};

/* "Unavailable"; codes that are not known: "status". */
const char *grpc_status_name(unsigned int status);

/* Whether the same request will be refused again: retry slowly. */
bool grpc_status_is_lasting(unsigned int status);

void grpc_prefix_write(uint8_t out[static GRPC_PREFIX], uint32_t length);

/*
 * Takes messages out of octets that are cut anywhere.  The length is checked
 * before memory is allocated, and memory grows with the octets that came, not
 * with the length that was announced.  Begin with zeros and a limit;
 * grpc_reader_free() at the end.
 */
struct grpc_reader {
	uint64_t limit;			/* octets of one message */
	uint64_t held;			/* octets of other messages in memory */
	uint8_t prefix[GRPC_PREFIX];
	size_t prefix_length;
	uint8_t *octets;		/* of the message that is coming */
	size_t length;
	size_t size;
	size_t announced;
};

enum grpc_read {
	GRPC_MORE,			/* all octets are taken, none is complete */
	GRPC_MESSAGE,			/* grpc_reader_take() it, then go on */
	GRPC_COMPRESSED,		/* the flag is not 0: none was offered */
	GRPC_TOO_LONG,			/* over the limit */
	GRPC_WAIT,			/* it has no room beside those held: none is taken */
	GRPC_NO_MEMORY,
};

/* Takes octets from *octets, which moves, and *length, which shrinks. */
enum grpc_read grpc_reader_put(struct grpc_reader *reader,
    const uint8_t **octets, size_t *length);

/* The message; the caller frees it.  NULL: there was no memory. */
uint8_t *grpc_reader_take(struct grpc_reader *reader, size_t *length);

/* Part of a message is there. */
bool grpc_reader_is_inside(const struct grpc_reader *reader);

/*
 * A message is announced that has no room: with those that are held it would be
 * longer than the limit and an eighth of it.
 */
bool grpc_reader_waits(const struct grpc_reader *reader);
void grpc_reader_free(struct grpc_reader *reader);

#define GRPC_BODY_KEPT	256		/* of an answer that is not gRPC */

/* What header fields and trailers said.  Begin with zeros. */
struct grpc_reply {
	unsigned int http_status;
	bool is_grpc;			/* by its content-type */
	bool has_status;
	unsigned int status;		/* grpc-status */
	char message[FEED_TEXT];	/* grpc-message, printable */
	uint8_t body[GRPC_BODY_KEPT];
	size_t body_length;
};

/* A header field or trailer; those of 1xx answers are left out by the caller. */
void grpc_reply_header(struct grpc_reply *reply, const void *name,
    size_t name_length, const void *value, size_t length);
void grpc_reply_body(struct grpc_reply *reply, const void *octets,
    size_t length);

/* The call's status when the answer is at its end, and why in words. */
unsigned int grpc_reply_status(const struct grpc_reply *reply,
    char why[static FEED_TEXT]);

/* The status that a RST_STREAM's error code stands for. */
unsigned int grpc_status_of_reset(uint32_t error_code);

/*
 * When to ask the peer of a silent connection for a sign of life (HTTP/2 PING).
 * Pure: time is a parameter.
 *
 * istiod ends connections whose pings come less than 15 s apart; whatever else
 * stands between may be stricter, says so by GOAWAY with "too_many_pings", and
 * the interval is doubled for good.
 */

#define KEEPALIVE_INTERVAL_MS	30000
#define KEEPALIVE_INTERVAL_MOST_MS ((int64_t)16 * 60000)
#define KEEPALIVE_APART_MS	15000
#define KEEPALIVE_TIMEOUT_MS	10000

enum keepalive_step {
	KEEPALIVE_WAIT,			/* until keepalive_deadline() */
	KEEPALIVE_PING,			/* send one, then keepalive_sent() */
	KEEPALIVE_DEAD,			/* no octet since the ping */
};

struct keepalive {
	int64_t interval_ms;
	monotime_t heard;		/* the last octet from the peer */
	monotime_t sent;		/* the last ping; never: none */
	bool waits;			/* nothing was heard since it was sent */
};

void keepalive_start(struct keepalive *keepalive, int64_t interval_ms,
    monotime_t now);
void keepalive_heard(struct keepalive *keepalive, monotime_t now);
void keepalive_sent(struct keepalive *keepalive, monotime_t now);
enum keepalive_step keepalive_step(const struct keepalive *keepalive,
    monotime_t now);
monotime_t keepalive_deadline(const struct keepalive *keepalive);

/* The interval after the peer complained of the one that was used. */
int64_t keepalive_slower(int64_t interval_ms);

#endif

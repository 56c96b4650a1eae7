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

#endif

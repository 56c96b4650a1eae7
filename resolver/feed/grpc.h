/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gRPC over HTTP/2 (grpc.io, PROTOCOL-HTTP2.md): messages behind five octets,
 * and how a call's end is told.  Pure: octets and header fields come in,
 * messages and a status come out.
 */
#ifndef NFDNS_RESOLVER_FEED_GRPC_H
#define NFDNS_RESOLVER_FEED_GRPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/feed/feed.h"

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

#endif

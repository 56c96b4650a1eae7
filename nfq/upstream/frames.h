/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DNS messages in a stream (RFC 1035 section 4.2.2, RFC 7858 section 3.3): two
 * octets of length before each.  Makes no system call.
 */
#ifndef NFDNS_NFQ_UPSTREAM_FRAMES_H
#define NFDNS_NFQ_UPSTREAM_FRAMES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif

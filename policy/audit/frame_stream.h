/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frame Streams: data frames behind their length, and control frames behind the
 * length 0.  A file is START, data frames, STOP.  Over a socket the writer sends
 * READY, waits for ACCEPT, and then writes what a file has.
 *
 * Numbers: fstrm.h of libfstrm; all are big-endian.
 */
#ifndef NFDNS_POLICY_AUDIT_FRAME_STREAM_H
#define NFDNS_POLICY_AUDIT_FRAME_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum frame_control {
	FRAME_ACCEPT = 1,
	FRAME_START,
	FRAME_STOP,
	FRAME_READY,
	FRAME_FINISH,
};

#define FRAME_LENGTH	((size_t)4)	/* octets before a data frame */
#define FRAME_CONTROL_MAX 512U		/* octets of a control frame that we read */

/* Puts a control frame, with the content type of dnstap except for STOP. */
char *frame_put_control(char *to, enum frame_control type);

/* The frame at octets. */
struct frame {
	size_t length;			/* octets of all of it; 0: it is cut off */
	size_t announced;		/* the same, cut off or not; 0: not known */
	bool control;
	uint32_t type;			/* of a control frame */
	const uint8_t *data;		/* of a data frame */
	size_t data_length;
};

/*
 * Reads the frame that octets begin with; false if no frame of ours begins so.
 * frame->length is 0 if there are not enough octets to say more.
 */
bool frame_read(struct frame *frame, const uint8_t *octets, size_t length);

/* The conversation of a writer; starts with zeros. */
struct frame_greeting {
	size_t sent;			/* octets of READY */
	size_t got;
	uint8_t octets[FRAME_CONTROL_MAX];
};

/*
 * Goes on with the conversation, without waiting: 1 when frames may be written,
 * 0 if the peer has not answered yet, a negative errno if it will not.
 */
int frame_greet(struct frame_greeting *greeting, int socket)
    __attribute__((warn_unused_result));

#endif

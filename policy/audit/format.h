/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Audit formats: how records are written into a file.  An outlet knows only
 * octets and where each record ends; the format's row knows what they mean.
 */
#ifndef NFDNS_POLICY_AUDIT_FORMAT_H
#define NFDNS_POLICY_AUDIT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/audit/audit.h"
#include "policy/audit/json_out.h"
#include "resolver/dns/name.h"

/* Notes: what a file says of itself, beside its records. */

enum audit_note_kind {
	AUDIT_BEGIN,			/* a file was opened: its first octets */
	AUDIT_LOST,			/* records are missing here */
	AUDIT_END,			/* the last before it is closed */
	AUDIT_CLOSE,			/* what the format has behind that */
	AUDIT_UNREAD,			/* questions went by that nobody read */
};

/* What a file says of itself. */
struct audit_note {
	enum audit_note_kind kind;
	bool appended;			/* BEGIN: the file is not empty */
	uint64_t time_ns;		/* since 1970 */
	uint64_t run;			/* of the worker: when it started */
	/* BEGIN, END: the number that the next record has. */
	uint64_t next;
	/* LOST: so many records, the first and the last of these numbers. */
	uint64_t lost_now, from, to;
	uint64_t unread;		/* UNREAD: so many, since the last one */
	/* Since the file was opened, also for the interface statistics. */
	uint64_t lost;
	uint64_t records;		/* written */
};

/* Octets that audit_note_text() puts at most. */
#define AUDIT_NOTE_TEXT 160

/* "event=begin run=... next=1", likewise. */
void audit_note_text(struct json_out *out, const struct audit_note *note);

/* Octets that audit_record_text() puts at most. */
#define AUDIT_RECORD_TEXT (464 + 2 * 4 * AUDIT_RULE_MAX + 4 * NAME_MAX_OCTETS)

/* "decision=answer ... number=1", for formats that have no keys. */
void audit_record_text(struct json_out *out, const struct audit_record *record);

/* "begin", "lost", "unread", "end". */
const char *audit_note_kind_text(enum audit_note_kind kind);

/* Octets of a format's state. */
#define AUDIT_FORMAT_STATE 2048

/*
 * All functions write to buf and return how many octets they wrote.  None
 * allocates.  "state" is AUDIT_FORMAT_STATE octets that belong to the file,
 * zeros before the first call; it may hold text to copy again.
 */
struct audit_format {
	const char *name;		/* in audit[].format */
	size_t record_max;		/* octets of the largest record */
	size_t note_max;
	size_t (*record)(void *state, const struct audit_record *record,
	    char *buf);
	/* Reports about the file; 0 octets if the format has no such note. */
	size_t (*note)(void *state, const struct audit_note *note, char *buf);
	bool greets;			/* sockets need frame_greet() first */
	/* Ends a record that a pipe took only in part; may be NULL. */
	const char *cut_end;
	/*
	 * Where the last whole piece of a file of "size" octets ends; fd can be
	 * read.  NULL: a piece in part does no harm to the next.  A negative
	 * errno if the file cannot be read or is not of this format.
	 */
	off_t (*whole)(int fd, off_t size);
};

/* All formats, by the numbers of enum audit_format_number. */
extern const struct audit_format *const audit_formats[AUDIT_FORMATS];

/* Audit records as lines of EVE JSON: the format "json". */

/*
 * A piece of a line that is usually the same in the next line: its text, and
 * the values that it was made from.
 */
struct audit_json_piece {
	uint64_t key[3];
	size_t length;			/* 0: none yet */
	char text[232];
};

/* What the format keeps from line to line; starts with zeros. */
struct audit_json {
	struct audit_json_piece second, source, destination, flags, outcome;
};

/*
 * One record as a line with the final newline, into buf, which has room for
 * AUDIT_JSON_MAX.  Returns the length.  Answers that would not fit are left
 * out and counted ("answers_omitted"); about 110 addresses fit.
 */
#define AUDIT_JSON_MAX 16384
size_t audit_json(struct audit_json *json, const struct audit_record *record,
    char *buf, size_t size);

#define AUDIT_JSON_NOTE_MAX (128 + AUDIT_NOTE_TEXT)

extern const struct audit_format audit_json_format;

/*
 * Audit records as dnstap: the format "dnstap".  A record is a CLIENT_QUERY and,
 * unless the question passed or was dropped, a CLIENT_RESPONSE, each a data
 * frame of Frame Streams.  The last of them has, as "extra", what the comment of
 * the format "pcapng" has.  Notes are messages of the type TOOL_QUERY with no
 * addresses.
 *
 * Messages: dnstap.proto of the dnstap project; frames: the header fstrm.h of
 * libfstrm.  Both are written here, since libfstrm's writer needs a thread of
 * its own and opens its files itself.
 */

/* Octets of a frame besides its DNS message. */
#define AUDIT_DNSTAP_AROUND (256 + AUDIT_RULE_MAX)
#define AUDIT_DNSTAP_MAX (2 * (UINT16_MAX + AUDIT_DNSTAP_AROUND) + \
    AUDIT_RECORD_TEXT)

extern const struct audit_format audit_dnstap_format;

/*
 * Audit records as packets that Wireshark opens: the format "pcapng"
 * (draft-ietf-opsawg-pcapng).  Each opening of a file begins a section, so a
 * file may be appended to, and files may be concatenated.
 */

/* Packets of one message, at most. */
#define RAW_PACKETS_MAX 2

/* Octets around a packet: the block, padding, options but the comment. */
#define AUDIT_PCAPNG_AROUND 128
/* Octets of a comment, every octet of the rule's name escaped. */
#define AUDIT_PCAPNG_COMMENT AUDIT_RECORD_TEXT
/*
 * A record is its question and its answer, both of which may take two packets,
 * and one comment.
 */
#define AUDIT_PCAPNG_MAX (2 * (UINT16_MAX + 2 + \
    RAW_PACKETS_MAX * (60 + AUDIT_PCAPNG_AROUND)) + AUDIT_PCAPNG_COMMENT)

/*
 * Puts a record into buf, which has AUDIT_PCAPNG_MAX octets; returns how many it
 * put.  The state is not used.
 */
size_t audit_pcapng(void *state, const struct audit_record *record, char *buf);

extern const struct audit_format audit_pcapng_format;

/*
 * Frame Streams: data frames behind their length, and control frames behind the
 * length 0.  A file is START, data frames, STOP.  Over a socket the writer sends
 * READY, waits for ACCEPT, and then writes what a file has.
 *
 * Numbers: fstrm.h of libfstrm; all are big-endian.
 */

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

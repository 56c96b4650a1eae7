/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One file that records are written to.  Writing never blocks: octets that the
 * file does not take stay in a buffer.  If the buffer has no room for a record,
 * the record is lost and counted.  The file never keeps a part of a record.
 */
#ifndef NFDNS_POLICY_AUDIT_OUTLET_H
#define NFDNS_POLICY_AUDIT_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/audit/audit.h"
#include "policy/audit/format.h"

#define AUDIT_BUFFER_SIZE ((size_t)256 << 10)
/* Pieces in the buffer at most; a power of two. */
#define AUDIT_OUTLET_PIECES 2048U

/* Records that a note of the file reports, or will. */
struct audit_loss {
	uint64_t count;
	uint64_t from, to;		/* numbers: the first and the last */
};

/* A record or a note in the buffer. */
struct audit_piece {
	uint32_t size;			/* octets */
	bool note;
	struct audit_loss loss;		/* the record, or what the note reports */
};

struct audit_outlet {
	bool in_use;			/* audit.c */
	struct audit_file file;
	const struct audit_format *format;
	char *buffer;			/* borrowed, AUDIT_BUFFER_SIZE */
	size_t begin, end;		/* octets still to be written */
	struct audit_piece pieces[AUDIT_OUTLET_PIECES];	/* a ring */
	unsigned int first, count;
	size_t cut;			/* octets of the first already written */
	uint64_t number;		/* of the last record, lost ones too */
	struct audit_loss loss;		/* that no note has reported */
	uint64_t unread;		/* of audit_set_unread(), in notes so far */
	uint64_t lost;			/* records, for lack of room here */
	/* Since the file was opened. */
	uint64_t file_records, file_lost;
	bool is_file;			/* a regular one, with so many octets: */
	uint64_t size;
	bool stuck;			/* the last write did not take everything */
	bool greeted;			/* the peer expects frames */
	bool dead;			/* the peer speaks another language */
	struct frame_greeting greeting;
	_Alignas(16) char state[AUDIT_FORMAT_STATE];
};

/* What notes say of the worker. */
struct audit_state {
	uint64_t time_ns;
	uint64_t run;
	uint64_t unread;
};

/*
 * Starts writing to a file, which the outlet owns from now on; fd -1: a socket
 * that is not connected yet, whose records wait in the buffer.  Keeps numbers and
 * losses: the new file reports what the file before it did not.
 */
void audit_outlet_open(struct audit_outlet *outlet,
    const struct audit_file *file, const struct audit_format *format,
    const struct audit_state *state);

/*
 * Returns room for the next record, the format's record_max octets; writes
 * earlier records if it has to.  NULL if there is no room, or the file is full.
 */
char *audit_outlet_begin(struct audit_outlet *outlet);

/*
 * Ends the record, which has "length" octets, at least 1, and the number
 * outlet->number + 1.
 */
void audit_outlet_end(struct audit_outlet *outlet, size_t length);

/* Counts the next records, which the file will not have. */
void audit_outlet_lose(struct audit_outlet *outlet, uint64_t count);

/* Whether there is room for a record. */
bool audit_outlet_has_room(const struct audit_outlet *outlet);

/* Whether the file has its max_size. */
bool audit_outlet_is_full(const struct audit_outlet *outlet);

/* Writes as much as the file takes now. */
void audit_outlet_flush(struct audit_outlet *outlet);
bool audit_outlet_is_empty(const struct audit_outlet *outlet);

/*
 * Puts notes of what went by unread and of what was lost since the last such
 * notes.  False if there is nothing to tell or no room.
 */
bool audit_outlet_tell(struct audit_outlet *outlet,
    const struct audit_state *state);

/* Whether the file is that of the outlet already. */
bool audit_outlet_is_of(const struct audit_outlet *outlet, int fd);

/*
 * Gives a socket to an outlet that had none; what waits in the buffer is sent.
 * False if it had one.
 */
bool audit_outlet_connect(struct audit_outlet *outlet, int fd);

/*
 * Writes once more, counts the records that are left as lost, removes a record
 * that was written in part, and closes the file.
 */
void audit_outlet_close(struct audit_outlet *outlet,
    const struct audit_state *state);

#endif

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
#include "policy/audit/frame_stream.h"
#include "policy/audit/seal.h"

#define AUDIT_BUFFER_SIZE ((size_t)256 << 10)
/* Pieces in the buffer at most; a power of two. */
#define AUDIT_OUTLET_PIECES 2048U

/* Records of a thread that a note of the file reports. */
struct audit_loss {
	uint64_t count;
	uint64_t from, to;		/* numbers: the first and the last */
};

/* A record or a note in the buffer. */
struct audit_piece {
	uint32_t size;			/* octets */
	bool note;
	bool sealed;
	uint16_t thread;		/* of a record, and its number; or */
	struct audit_loss loss;		/* what a note reports of that thread */
	uint64_t chain;			/* of the seal before it */
};

struct audit_outlet {
	bool in_use;			/* outlets.c */
	struct audit_file file;
	const struct audit_format *format;
	char *buffer;			/* borrowed, AUDIT_BUFFER_SIZE */
	size_t begin, end;		/* octets still to be written */
	struct audit_piece pieces[AUDIT_OUTLET_PIECES];	/* a ring */
	unsigned int first, count;
	size_t cut;			/* octets of the first already written */
	struct audit_seal seal;
	struct audit_pace pace;
	struct audit_loss *losses;	/* borrowed; of each thread */
	unsigned int threads;
	uint64_t untold;		/* sum of their counts */
	uint64_t unread;		/* of audit_set_unread(), in notes so far */
	uint64_t lost;			/* records, for lack of room here */
	/* Since the file was opened. */
	uint64_t file_records, file_lost, file_skipped;
	bool stuck;			/* the last write did not take everything */
	bool greeted;			/* the peer expects frames */
	bool dead;			/* the peer speaks another language */
	struct frame_greeting greeting;
	_Alignas(16) char state[AUDIT_FORMAT_STATE];
};

/* What notes say of all threads; borrowed. */
struct audit_state {
	uint64_t time_ns;
	uint64_t run;
	uint64_t unread;
	const uint64_t *next;		/* of as many threads as an outlet has */
};

/*
 * Starts writing to a file, which the outlet owns from now on; fd -1: a socket
 * that is not connected yet, whose records wait in the buffer.  Keeps seals and
 * losses: the new file reports what the file before it did not.
 */
void audit_outlet_open(struct audit_outlet *outlet,
    const struct audit_file *file, const struct audit_format *format,
    const struct audit_state *state);

/*
 * Returns room for the next record, the format's record_max octets; writes
 * earlier records if it has to.  NULL if there is no room.
 */
char *audit_outlet_begin(struct audit_outlet *outlet);

/*
 * Ends the record, which has "length" octets, at least 1, and seals it at
 * "seal".
 */
void audit_outlet_end(struct audit_outlet *outlet,
    const struct audit_record *record, size_t length, size_t seal);

/* Counts records that the file will not have: numbers from "from" to "to". */
void audit_outlet_lose(struct audit_outlet *outlet, unsigned int thread,
    uint64_t from, uint64_t to);

/* Whether there is room for a record. */
bool audit_outlet_has_room(const struct audit_outlet *outlet);

/* Writes as much as the file takes now. */
void audit_outlet_flush(struct audit_outlet *outlet);
bool audit_outlet_is_empty(const struct audit_outlet *outlet);

/*
 * Puts notes of what went by unread and of each thread's loss since the last such
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what the audit has written: finds the pieces, records and notes, of the
 * formats that have seals, and what is needed to verify them.  The octets may be
 * anything.
 */
#ifndef NFDNS_NFQ_CLI_LOGS_READER_H
#define NFDNS_NFQ_CLI_LOGS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/audit/audit.h"
#include "policy/audit/seal.h"

/* Octets of a piece at most; what is longer is none. */
#define AUDIT_PIECE_MAX ((size_t)1 << 19)

enum audit_piece_kind {
	AUDIT_PIECE_RECORD,
	AUDIT_PIECE_BEGIN,
	AUDIT_PIECE_LOST,
	AUDIT_PIECE_UNREAD,
	AUDIT_PIECE_END,
	AUDIT_PIECE_FOREIGN,		/* none of ours: a line, a block, a frame */
};

struct audit_reading {
	enum audit_piece_kind kind;
	size_t length;			/* octets */
	size_t seal_at;			/* not of a FOREIGN one */
	struct audit_seal seal;
	uint64_t thread, number;	/* RECORD, LOST: */
	uint64_t records, from, to;	/* LOST */
	uint64_t unread;		/* UNREAD: questions */
	uint64_t run;			/* of notes */
	uint64_t written, skipped, missing;	/* BEGIN, END */
	uint64_t next;			/* sum of the threads' next numbers */
};

/* The format of a file that begins so; AUDIT_FORMATS: of none with seals. */
enum audit_format_number audit_reader_format(const uint8_t *octets,
    size_t length);

enum audit_read {
	AUDIT_READ_PIECE,
	AUDIT_READ_MORE,		/* the piece does not end here */
	AUDIT_READ_BROKEN,		/* no piece of the format begins here */
};

/* Reads the piece that octets begin with. */
enum audit_read audit_reader_next(struct audit_reading *reading,
    enum audit_format_number format, const uint8_t *octets, size_t length);

/*
 * How many octets to skip to where a piece may begin, at least 1, after one that
 * is broken.
 */
size_t audit_reader_skip(enum audit_format_number format,
    const uint8_t *octets, size_t length);

#endif

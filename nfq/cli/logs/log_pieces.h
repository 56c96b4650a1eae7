/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pieces of a log, records and notes, in any format that is a file. */
#ifndef NFDNS_NFQ_CLI_LOGS_LOG_PIECES_H
#define NFDNS_NFQ_CLI_LOGS_LOG_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfq/cli/logs/log_octets.h"
#include "nfq/cli/logs/reader.h"

#define LOG_PIECES_OCTETS (2 * AUDIT_PIECE_MAX)

struct log_pieces {
	struct log_octets *source;	/* borrowed */
	enum audit_format_number format; /* AUDIT_FORMATS: not known (yet) */
	uint8_t *octets;		/* borrowed: LOG_PIECES_OCTETS */
	size_t begin, end;		/* begin: of the piece given out last */
	size_t taken;			/* its octets */
	uint64_t offset;		/* of begin, in the log's octets */
	uint64_t line;			/* of begin, from 1; 0: not of JSON */
	uint64_t again;			/* where log_pieces_again() goes on */
};

/* Begins to read a source, into memory of LOG_PIECES_OCTETS; borrows both. */
void log_pieces_begin(struct log_pieces *pieces, struct log_octets *source,
    uint8_t *octets);

/*
 * The same from that octet of a plain file on, which has this format; as
 * log_octets_seek().  Its line is not known.
 */
int log_pieces_begin_at(struct log_pieces *pieces, struct log_octets *source,
    uint8_t *octets, enum audit_format_number format, uint64_t offset)
    __attribute__((warn_unused_result));

enum log_next {
	LOG_PIECE,
	LOG_END,			/* no whole piece is there (any more) */
	LOG_NONE,			/* the file is no log */
	LOG_DAMAGED,			/* it cannot be read, or not be unpacked */
};

/*
 * Reads the next piece; its octets begin at octets[begin] and may be written
 * over.  What is no piece is given as one that is FOREIGN.
 */
enum log_next log_pieces_next(struct log_pieces *pieces,
    struct audit_reading *reading);

/* Octets of the last piece, which is not whole. */
size_t log_pieces_rest(const struct log_pieces *pieces);

/*
 * After LOG_END: reads the end of a plain file again, from where the last whole
 * piece ended, since nfdnsd removes what it could write only in part, and the
 * STOP of dnstap.  A file that is shorter than that is read from its beginning.
 */
void log_pieces_again(struct log_pieces *pieces);

/* Whether the piece is a STOP, which ends a stream of dnstap and is no record. */
bool log_pieces_is_stop(const struct log_pieces *pieces,
    const struct audit_reading *reading);

#endif

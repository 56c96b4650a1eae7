/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verifies a log, piece by piece: whether each follows the one before it
 * unchanged, and whether the records, with those that the log says are missing,
 * are all that there were.
 */
#ifndef NFDNS_NFQ_CLI_LOGS_VERIFY_H
#define NFDNS_NFQ_CLI_LOGS_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfq/cli/logs/reader.h"

/* What is wrong with a piece, or before it; several may be. */
enum {
	AUDIT_CHANGED = 1,		/* its hash is another */
	AUDIT_CUT = 2,			/* pieces before it are missing */
	AUDIT_REPEATED = 4,		/* it comes again, or out of its order */
	AUDIT_LOSS = 8,			/* a note: records were lost */
	AUDIT_UNENDED = 16,		/* the run before it has no end; "between" */
	AUDIT_UNCOUNTED = 32,		/* the sums of the notes differ */
	AUDIT_STRANGE = 64,		/* it is none of ours */
	AUDIT_HEADLESS = 128,		/* the log does not begin here */
	AUDIT_BETWEEN = 256,		/* runs of one daemon, and records
					 * between them are missing: "between" */
	AUDIT_WENT_BY = 512,		/* a note: questions that nobody read */
};

/* verify->between: it cannot be known. */
#define AUDIT_BETWEEN_UNKNOWN UINT64_MAX

struct audit_verify {
	struct audit_key key;
	bool begun;			/* a run is under way, */
	bool ended;			/* and its last piece was an end */
	uint64_t run, run_before;
	struct audit_seal seal;		/* of the piece before */
	/* Since the last beginning, if "counting". */
	bool counting;
	uint64_t next, written, missing;
	/*
	 * Numbers of records go on when a worker is replaced: how many the
	 * daemon had given, by the pieces so far, if "joined" (all threads).
	 */
	bool joined;
	uint64_t given, between;
	/* The first beginning of a run from then on: how many it had given. */
	uint64_t since;
	bool has_first;
	uint64_t first;
	/* Of all pieces. */
	uint64_t records, lost, skipped, unread;
	/* CUT: the numbers of the missing pieces. */
	uint64_t cut_from, cut_to;
};

/*
 * Verifies the next piece, writing over its octets.  0 if all is well, else what
 * is wrong.
 */
unsigned int audit_verify_piece(struct audit_verify *verify,
    const struct audit_reading *reading, char *octets);

#endif

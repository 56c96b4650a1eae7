/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verifies a log, piece by piece: whether each follows the one before it
 * unchanged, and whether the records, with those that the log says are missing,
 * are all that there were.
 */
#ifndef NFDNS_POLICY_AUDIT_VERIFY_H
#define NFDNS_POLICY_AUDIT_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/audit/reader.h"

/* What is wrong with a piece, or before it; several may be. */
enum {
	AUDIT_CHANGED = 1,		/* its hash is another */
	AUDIT_CUT = 2,			/* pieces before it are missing */
	AUDIT_REPEATED = 4,		/* it comes again, or out of its order */
	AUDIT_LOSS = 8,			/* a note: records were lost */
	AUDIT_UNENDED = 16,		/* the run before it has no end */
	AUDIT_UNCOUNTED = 32,		/* the sums of the notes differ */
	AUDIT_STRANGE = 64,		/* it is none of ours */
	AUDIT_HEADLESS = 128,		/* the log does not begin here */
};

struct audit_verify {
	struct audit_key key;
	bool begun;			/* a run is under way, */
	bool ended;			/* and its last piece was an end */
	uint64_t run, run_before;
	struct audit_seal seal;		/* of the piece before */
	/* Since the last beginning, if "counting". */
	bool counting;
	uint64_t next, written, missing;
	/* Of all pieces. */
	uint64_t records, lost, skipped;
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

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

struct audit_outlet {
	struct audit_file file;
	const struct audit_format *format;
	char *buffer;			/* borrowed, AUDIT_BUFFER_SIZE */
	size_t begin, end;		/* octets still to be written */
	/* Octets of each record and note in the buffer, a ring. */
	uint32_t sizes[AUDIT_OUTLET_PIECES];
	unsigned int first, count;
	size_t cut;			/* octets of the first already written */
	uint64_t lost;			/* records, for lack of room here */
	uint64_t told;			/* how many of these the file reports */
	uint64_t ring_lost;		/* losses of the rings that it reports */
	uint64_t file_records;		/* put since the file was opened */
	uint64_t file_lost;		/* that this file reports */
	bool stuck;			/* the last write did not take everything */
	_Alignas(16) char state[AUDIT_FORMAT_STATE];
};

/*
 * Starts writing to a file, which the outlet owns from now on.  Keeps the
 * counts of losses: the new file reports what the file before it did not.
 */
void audit_outlet_open(struct audit_outlet *outlet,
    const struct audit_file *file, const struct audit_format *format,
    char *buffer);

/*
 * Returns room for the next record, the format's record_max octets; writes
 * earlier records if it has to.  NULL if there is no room: the record is
 * counted as lost.
 */
char *audit_outlet_begin(struct audit_outlet *outlet);

/* Ends the record, which has "length" octets, at least 1. */
void audit_outlet_end(struct audit_outlet *outlet, size_t length);

/* Whether there is room for a record. */
bool audit_outlet_has_room(const struct audit_outlet *outlet);

/* Writes as much as the file takes now. */
void audit_outlet_flush(struct audit_outlet *outlet);
bool audit_outlet_is_empty(const struct audit_outlet *outlet);

/*
 * Puts a record of the loss: how many records outlet and rings lost since the
 * last such record.  False if nothing was lost or there is no room.
 */
bool audit_outlet_tell(struct audit_outlet *outlet, uint64_t ring_lost,
    uint64_t time_ns);

/*
 * Writes once more, counts the records that are left as lost, removes a record
 * that was written in part, and closes the file.
 */
void audit_outlet_close(struct audit_outlet *outlet, uint64_t time_ns);

#endif

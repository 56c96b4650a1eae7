/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Audit formats: how records are written into a file.  An outlet knows only
 * octets and where each record ends; the format's row knows what they mean.
 */
#ifndef NFDNS_POLICY_AUDIT_FORMAT_H
#define NFDNS_POLICY_AUDIT_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/audit/audit.h"
#include "policy/audit/note.h"

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

#endif

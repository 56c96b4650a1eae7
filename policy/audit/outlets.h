/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All outlets of the audit: which of them takes a record, and what each has lost.  The writer alone uses
 * them.
 */
#ifndef NFDNS_POLICY_AUDIT_OUTLETS_H
#define NFDNS_POLICY_AUDIT_OUTLETS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/audit/audit.h"
#include "policy/audit/outlet.h"

struct audit_outlets {
	struct audit_outlet *all;	/* AUDIT_MAX_FILES */
	char *buffers;			/* as many */
	struct audit_outlet *outlet[AUDIT_MAX_FILES];	/* those in use */
	size_t count;
	uint64_t run;			/* when the worker began */
	_Atomic uint64_t lost;		/* by the outlets so far */
	_Atomic uint64_t unread;	/* audit_set_unread() */
};

/* Allocates all memory.  0 or -errno. */
int audit_outlets_init(struct audit_outlets *outlets)
    __attribute__((warn_unused_result));
void audit_outlets_clear(struct audit_outlets *outlets);

/*
 * Has these outlets from now on.  One with the id of one before it goes on with
 * that one's numbers, and reports the losses that it had not reported; if the file
 * is the same, or fd is -1, it goes on as if nothing had happened.
 */
void audit_outlets_switch(struct audit_outlets *outlets,
    const struct audit_file *files, size_t count);

/* Writes the record to each outlet that takes it; its number is written over. */
void audit_outlets_put(struct audit_outlets *outlets,
    struct audit_record *record);

/* Records that never came to be put. */
void audit_outlets_lose(struct audit_outlets *outlets, uint64_t count);

/*
 * Whether a record may be put: one of them has room for it, or is full for good, or
 * there is none.
 */
bool audit_outlets_have_room(const struct audit_outlets *outlets);
bool audit_outlets_are_empty(const struct audit_outlets *outlets);

/* Writes the buffers; reports losses where a note of them fits. */
void audit_outlets_flush(struct audit_outlets *outlets);

#endif

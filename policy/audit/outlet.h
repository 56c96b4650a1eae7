/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One file that records go to.  It never blocks and holds whole lines only:
 * what the file did not take stays in a buffer until it does, and what finds
 * no room in that is lost and counted.
 */
#ifndef NFDNS_POLICY_AUDIT_OUTLET_H
#define NFDNS_POLICY_AUDIT_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/audit/audit.h"
#include "policy/audit/json.h"

#define AUDIT_BUFFER_SIZE ((size_t)256 << 10)

/* The buffer is borrowed. */
struct audit_outlet {
	struct audit_file file;
	char *buffer;			/* AUDIT_BUFFER_SIZE */
	size_t begin, end;		/* what is still to be written */
	size_t cut;			/* octets already written of its first line */
	uint64_t lost;			/* here, for want of room */
	uint64_t told;			/* of these, how many a record told of */
	uint64_t ring_lost;		/* losses of the rings when last told */
	bool stuck;			/* the last write left something */
};

/*
 * Where the next line is to be written, up to AUDIT_JSON_MAX octets of it,
 * writing others to make room.  NULL, and a line is counted as lost, if there
 * is none.
 */
char *audit_outlet_begin(struct audit_outlet *outlet);

/* That line, of that length, is there. */
void audit_outlet_end(struct audit_outlet *outlet, size_t length);

/* Whether any line would be taken. */
bool audit_outlet_has_room(const struct audit_outlet *outlet);

/* Writes what the file takes now. */
void audit_outlet_flush(struct audit_outlet *outlet);
bool audit_outlet_is_empty(const struct audit_outlet *outlet);

/*
 * Puts a record of what was lost since the last one, rings included.  False if
 * there is nothing to tell or no room for it.
 */
bool audit_outlet_tell(struct audit_outlet *outlet, uint64_t ring_lost,
    uint64_t time_ns);

/*
 * Last attempt; then counts what is left as lost, takes back a line that was
 * written in part, and closes the file.
 */
void audit_outlet_close(struct audit_outlet *outlet);

#endif

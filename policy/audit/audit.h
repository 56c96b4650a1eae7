/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Audit: one record for each question.  Worker threads put records into rings,
 * and one writer thread writes them to files.  A packet never waits for its
 * record: if the ring is full, the record is lost and counted, and the loss is
 * itself a record as soon as there is room.
 *
 * This room holds the rings, the writer, the outlets and the formats.  It opens
 * no file: the supervisor does (nfq/supervisor/audit_files.h).
 */
#ifndef NFDNS_POLICY_AUDIT_AUDIT_H
#define NFDNS_POLICY_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/audit/sink.h"
#include "policy/decide.h"

struct audit; /* rings, files and the writer thread */

#define AUDIT_MAX_RINGS 72		/* threads that put records */

/* Everything about one question; audit_put() copies the octets. */
struct audit_record {
	uint64_t time_ns;		/* CLOCK_REALTIME */
	uint64_t generation;		/* of the table */
	uint64_t number;		/* in its file, of this worker, from 1; lost
					 * ones have numbers, too.  The writer gives it */
	uint16_t queue;			/* the kernel's number; not over TCP */
	uint16_t client_port;
	uint16_t server_port;
	uint32_t spent_ns;		/* from the batch's recv to the decision */
	uint32_t packet_id;
	uid_t uid;			/* (uid_t)-1: the kernel named none */
	gid_t gid;
	uint8_t client[16];
	uint8_t server[16];
	const uint8_t *question;
	const uint8_t *answer;
	const char *interface;		/* by which a container's came; "", NULL:
					 * none.  Not copied: it lives for ever */
	const char *rule;		/* name of the policy's rule; no NUL */
	const char *observer;		/* of a rule that only observes; no NUL */
	const uint8_t *judged;		/* the name that the rule denies, in wire
					 * form, if it is not the one asked */
	enum verdict verdict;
	enum reason reason;
	uint16_t rcode;
	uint16_t question_length;	/* client's message; cut at 512 */
	uint16_t answer_length;		/* answer's message; 0 if it passed */
	uint8_t rule_length;		/* 0: no rule made the decision */
	uint8_t observer_length;	/* 0: none observed */
	uint8_t judged_length;		/* 0: none */
	uint8_t family;			/* AF_INET or AF_INET6 */
	uint8_t would;			/* enum rule_action: what it would have done */
	bool stream;			/* over TCP */
	bool is_private;		/* the file names no client */
	bool asked;			/* a rule's "log" wants the record, whatever
					 * verdicts a file takes */
};

/* How records are written; the rows are in format.h. */
enum audit_format_number {
	AUDIT_JSON,
	AUDIT_PCAPNG,
	AUDIT_DNSTAP,
	AUDIT_FORMATS
};

/* The values of audit[].format; ends with NULL. */
extern const char *const audit_format_names[AUDIT_FORMATS + 1];

/* A destination: an open file and what is written to it. */
struct audit_file {
	int fd;				/* owned by the audit once given; -1: a
					 * socket that is not connected */
	struct audit_sink sink;
};

/*
 * Starts the writer with one ring for each of "rings" threads, AUDIT_MAX_RINGS
 * at most.  Allocates all memory now.  The writer makes these system calls: write,
 * futex, close, fstat, ftruncate (of a line that a full disk cut), clock_gettime,
 * the openat of gmtime_r(3), which may fail, and those of a thread's end;
 * audit_set_files() also makes fcntl.
 * Returns 0 and *audit, or a negative errno.
 */
int audit_start(struct audit **audit, unsigned int rings)
    __attribute__((warn_unused_result));

/*
 * Replaces the files.  A file whose sink has the id of one before it goes on with
 * that one's numbers and reports what it had not reported.  The writer first writes
 * all records from before the call to the old files, then closes these.  The call
 * waits for that for at most a second; then the writer does it alone.  Makes the new
 * files non-blocking.
 * Call it at start, on reload and on reopen.
 */
void audit_set_files(
    struct audit *audit, const struct audit_file *files, size_t count);

/* Whether any file takes records of that verdict.  For the packet path. */
bool audit_wants(const struct audit *audit, enum verdict verdict);

/* Whether there is any file. */
bool audit_wants_any(const struct audit *audit);

/*
 * Puts a record into that ring.  Only the ring's thread may call it, and it
 * calls audit_wake() after the last of several records.  False: no room; the
 * record is lost and counted.  No lock, no allocation, no system call.
 */
bool audit_put(struct audit *audit, unsigned int ring,
    const struct audit_record *record);

/*
 * Makes the writer write the ring's records, within some ms.  Only the ring's
 * thread may call it.  A system call only if the writer sleeps, or rests while
 * the ring fills.
 */
void audit_wake(struct audit *audit, unsigned int ring);

/*
 * Sets how many questions nobody has read so far: over a user's rate, a full queue.
 * Each file gets a note of how many more there are than at the note before it.  What
 * is set before the first file is in no note.
 */
void audit_set_unread(struct audit *audit, uint64_t unread);

/* Records lost so far: no room, or a file that could not be written. */
uint64_t audit_lost(const struct audit *audit);

/*
 * Writes the records in the rings for at most timeout_ms, ends the thread and
 * frees everything.  NULL is allowed.  No thread may call audit_put() any more.
 */
void audit_stop(struct audit *audit, int timeout_ms);

#endif

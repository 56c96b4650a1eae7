/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Audit: one record a question, from the worker threads' rings to files, by
 * one writer thread.  A packet never waits for a record: a full ring loses it,
 * the loss is counted and is itself a record once there is room again.
 */
#ifndef NFDNS_POLICY_AUDIT_AUDIT_H
#define NFDNS_POLICY_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/decide.h"

struct audit; /* rings, files and the writer thread */

#define AUDIT_RULE_MAX 63		/* octets of a rule's name that are kept */

/* Everything about one question; the octets are copied into the ring. */
struct audit_record {
	uint64_t time_ns;		/* CLOCK_REALTIME */
	uint32_t spent_ns;		/* from recv of the batch to this decision */
	uint32_t packet_id;
	uint64_t generation;		/* of the table */
	uid_t uid;			/* (uid_t)-1: the kernel named none */
	gid_t gid;
	uint16_t client_port;
	uint16_t server_port;
	bool stream;			/* over TCP */
	uint8_t family;			/* AF_INET or AF_INET6 */
	uint8_t client[16];
	uint8_t server[16];
	enum verdict verdict;
	enum reason reason;
	uint8_t rule_length;		/* 0: no rule made the decision */
	uint16_t rcode;
	uint16_t question_length;	/* DNS message of the client, may be cut at 512 */
	uint16_t answer_length;		/* DNS message of the answer, 0 if passed */
	const uint8_t *question;
	const uint8_t *answer;
	const char *rule;		/* name of the policy's rule; no NUL */
};

/* How records are written; the rows are in format.h. */
enum audit_format_number {
	AUDIT_JSON,
	AUDIT_FORMATS
};

/* As audit[].format has them; ends with NULL. */
extern const char *const audit_format_names[AUDIT_FORMATS + 1];

/* A destination: an open file and how records are written to it. */
struct audit_file {
	int fd;				/* owned by the audit once given */
	bool passes;			/* passed questions too */
	uint8_t format;			/* enum audit_format_number */
};

#define AUDIT_MAX_FILES 8

/*
 * Starts the writer with one ring for each of "rings" threads.  Takes all its
 * memory now.  The writer makes these system calls: write, futex, close,
 * fstat, ftruncate (of a line that a full disk cut), clock_gettime, and those
 * of a thread's end; audit_set_files() makes fcntl too.
 * Returns 0 and *audit, or a negative errno.
 */
int audit_start(struct audit **audit, unsigned int rings)
    __attribute__((warn_unused_result));

/*
 * Replaces the files, closing the old ones' files, after what was recorded
 * before was written to them; waits for that, but no longer than a second, and
 * leaves it to the writer then.  Makes the files non-blocking.  Called at
 * start, on reload and on reopen.
 */
void audit_set_files(
    struct audit *audit, const struct audit_file *files, size_t count);

/* Whether a record of that verdict would go anywhere: asked on the packet path. */
bool audit_wants(const struct audit *audit, enum verdict verdict);

/*
 * Puts a record into ring n, by that ring's thread only, which then calls
 * audit_wake() soon: after the last of several.  False: lost, counted.  No
 * lock, no allocation, no system call.
 */
bool audit_put(struct audit *audit, unsigned int ring,
    const struct audit_record *record);

/* Sees to it that what was put is written; a system call if the writer sleeps. */
void audit_wake(struct audit *audit);

/* Records lost so far, for want of room or because a file could not be written. */
uint64_t audit_lost(const struct audit *audit);

/*
 * Writes what is in the rings, for at most timeout_ms, then ends the thread
 * and frees everything.  NULL is allowed.  No thread may put any more.
 */
void audit_stop(struct audit *audit, int timeout_ms);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Child side: the job that the compiler receives, and its whole life.  Only
 * compiler.c, the parent side, includes this.
 *
 * The program executes itself to become the compiler, so the compiler starts
 * with empty memory.  If the parent is not root, execve(2) also clears the
 * capabilities, and the compiler needs no system call that sets any.
 */
#ifndef NFDNS_NFQ_PROCESS_COMPILER_PROCESS_H
#define NFDNS_NFQ_PROCESS_COMPILER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "policy/config/policy.h"
#include "policy/match/rules_feeds.h"
#include "resolver/image/mesh.h"

/* The compiler's exit status: what compile() returned. */
enum { COMPILER_DONE = 0, COMPILER_REFUSED = 1, COMPILER_NO_MEMORY = 2,
	COMPILER_NO_SANDBOX = 3 };

/* Octets of a line from child to parent, line end included. */
#define COMPILER_LINE	1024

/* The work; files are descriptors. */
struct compiler_job {
	const struct mesh *mesh;
	const int *sources;	/* open; one for each of mesh->sources; -1: none */
	const struct policy *policy;
	const struct rules_feed_input *inputs;	/* one for each of policy->sets */
	const char *config;	/* path, for messages */
	bool unloaded;		/* the image is to stand for no table */
	int image;		/* to write to */
	int channel;
};

/* Whose child the compiler is, and its user if the parent is root. */
struct compiler_owner {
	pid_t parent;
	uid_t uid;
	gid_t gid;
};

/*
 * Call in the child after fork(): turns this process into a compiler, which has
 * the channel and no other file, and waits for a job.  "program" is the
 * program's file.  On failure, writes the reason to the channel and ends the
 * process.
 */
_Noreturn void compiler_become(const struct compiler_owner *owner, int channel,
    int program);

/*
 * Gives it the job, with the files.  0 or a negative errno: -EPIPE or
 * -ECONNRESET if the process has ended.
 */
int compiler_job_send(const struct compiler_job *job)
    __attribute__((warn_unused_result));

#endif

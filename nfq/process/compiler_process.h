/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compiler's side: the job that it receives, and its whole life.  Only
 * compiler.c, the parent's side, includes this.
 *
 * The program executes itself to become the compiler, so the compiler begins
 * with empty memory.  It also begins without capabilities if the parent is not
 * root: execve(2) clears them, and no system call that sets any is needed.
 */
#ifndef NFDNS_NFQ_PROCESS_COMPILER_PROCESS_H
#define NFDNS_NFQ_PROCESS_COMPILER_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

#include "resolver/image/mesh.h"

/* How the compiler says what compile() returned. */
enum { COMPILER_DONE = 0, COMPILER_REFUSED = 1, COMPILER_NO_MEMORY = 2,
	COMPILER_NO_SANDBOX = 3 };

/* A line between the two, with its end. */
#define COMPILER_LINE	1024

/* The work; files are numbers that are good in both processes. */
struct compiler_job {
	const struct mesh *mesh;
	const int *sources;	/* open, one for each of the mesh's */
	int image;		/* to write to */
	int channel;
	pid_t parent;
	uid_t uid;		/* to change to, if it is root */
	gid_t gid;
};

/*
 * The job as a memory file for compiler_become().  An fd or a negative errno.
 */
int compiler_job_write(const struct compiler_job *job)
    __attribute__((warn_unused_result));

/*
 * In the child after fork(): makes this process the compiler, with the job's
 * files and no other.  "program" is the program's file, "keep" has room for
 * the numbers of the sources and four more.  Says in the channel why it could
 * not, and ends the process.
 */
_Noreturn void compiler_become(const struct compiler_job *job, int job_fd,
    int program, int *keep);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Child side: the job that the compiler has, and its whole life.  Only compiler.c,
 * the parent side, includes this.
 */
#ifndef NFDNS_NFQ_PROCESS_COMPILER_PROCESS_H
#define NFDNS_NFQ_PROCESS_COMPILER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "policy/config/policy.h"
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
	const int *lists;	/* open; one for each of policy->sets; -1: none */
	bool leave_out;		/* those of them that have errors */
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
 * Call in the child after fork(): turns this process into a compiler, which has the
 * job's files and no other, shares no memory, and has no privilege; compiles, and
 * ends.  What goes wrong is written to the channel.
 */
_Noreturn void compiler_become(const struct compiler_owner *owner,
    const struct compiler_job *job);

#endif

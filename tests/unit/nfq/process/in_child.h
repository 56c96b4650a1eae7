/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tries something in a child, which may die of it: for tests of sandboxes. */
#ifndef NFDNS_TESTS_UNIT_NFQ_PROCESS_IN_CHILD_H
#define NFDNS_TESTS_UNIT_NFQ_PROCESS_IN_CHILD_H

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "tests/check.h"

#define NOBODY	65534
#define DONE	0
#define SETUP	99		/* the sandbox itself failed */

/* How a child ended that ran "what". */
static inline int
in_child(int (*what)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(what());
	CHECK(child_reap(pid, &status) == 0);
	return status;
}

static inline bool
ended_well(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == DONE;
}

static inline bool
died_of(int status, int number)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == number;
}

#endif

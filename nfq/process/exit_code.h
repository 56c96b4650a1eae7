/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the programs and the worker process exit.  In this room because every
 * other room of nfq may use it.
 */
#ifndef NFDNS_NFQ_PROCESS_EXIT_CODE_H
#define NFDNS_NFQ_PROCESS_EXIT_CODE_H

enum exit_code {
	EXIT_OK = 0,
	EXIT_ERROR = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_RUNNING = 3,
	EXIT_INVALID = 4,	/* invalid config, refused reload */
	EXIT_DEGRADED = 5,	/* running but degraded; rules differ */
	EXIT_HANDED_OVER = 6,	/* nfdnsd after SIGQUIT: a successor takes over */
};

/* The worker's exit status, of which the supervisor has more to say. */
enum worker_exit {
	WORKER_DONE = 0,
	WORKER_FAILED = 1,		/* it has logged why */
	WORKER_NO_PRIVILEGE = 10,	/* the kernel refuses our verdicts */
	WORKER_BAD_IMAGE = 11,
};

#endif

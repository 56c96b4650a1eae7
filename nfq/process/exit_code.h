/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exit codes of both programs; on the lowest shelf because every cmd_ needs them. */
#ifndef NFDNS_NFQ_PROCESS_EXIT_CODE_H
#define NFDNS_NFQ_PROCESS_EXIT_CODE_H

enum exit_code {
	EXIT_OK = 0,
	EXIT_ERROR = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_RUNNING = 3,
	EXIT_INVALID = 4,	/* invalid config, refused reload */
	EXIT_DEGRADED = 5,	/* running but degraded; rules differ */
	EXIT_HANDED_OVER = 6,	/* nfdnsd after SIGQUIT: a successor goes on */
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts nfdns-metrics: its parent's side, and what it is told. */
#ifndef NFDNS_NFQ_METRICS_START_H
#define NFDNS_NFQ_METRICS_START_H

#include <stdbool.h>
#include <sys/types.h>

/* Descriptors are open in the child under these numbers. */
struct metrics_start {
	int listener;			/* that listens; not blocking */
	int status;			/* the status page, only to be read */
	int reports;			/* reports.h, only to be read */
	int alive;			/* an eventfd: it adds 1 each second */
	pid_t parent;			/* it dies with it */
};

/* program_open() of nfdns-metrics. */
int metrics_program_open(void) __attribute__((warn_unused_result));

/*
 * Forks and executes it.  Its process id, or a negative errno; the descriptors
 * stay the caller's.
 */
pid_t metrics_start(int program, const struct metrics_start *start)
    __attribute__((warn_unused_result));

/* In nfdns-metrics: false if the arguments are not those of metrics_start(). */
bool metrics_start_read(struct metrics_start *start, int argc, char **argv);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/metrics/start.h"

#include <limits.h>

#include "nfq/process/program.h"

/* Descriptors first: program_start(). */
enum { LISTENER, STATUS, REPORTS, ALIVE, FILES, PARENT = FILES, NUMBERS };

int
metrics_program_open(void)
{
	return program_open("nfdns-metrics");
}

pid_t
metrics_start(int program, const struct metrics_start *start)
{
	const uint32_t values[NUMBERS] = {
		[LISTENER] = (uint32_t)start->listener,
		[STATUS] = (uint32_t)start->status,
		[REPORTS] = (uint32_t)start->reports,
		[ALIVE] = (uint32_t)start->alive,
		[PARENT] = (uint32_t)start->parent,
	};

	return program_start(program, "nfdns-metrics", values, NUMBERS, FILES);
}

bool
metrics_start_read(struct metrics_start *start, int argc, char **argv)
{
	uint32_t values[NUMBERS];

	if (!program_values(argc, argv, values, NUMBERS))
		return false;
	for (int i = 0; i < NUMBERS; i++)
		if (values[i] > INT_MAX)
			return false;
	*start = (struct metrics_start){
		.listener = (int)values[LISTENER],
		.status = (int)values[STATUS],
		.reports = (int)values[REPORTS],
		.alive = (int)values[ALIVE],
		.parent = (pid_t)values[PARENT],
	};
	return true;
}

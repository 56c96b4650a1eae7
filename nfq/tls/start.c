/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/tls/start.h"

#include <limits.h>

#include "nfq/process/program.h"

/* Descriptors first: program_start(). */
enum { CHANNEL, AUTHORITIES, FILES, PARENT = FILES, USER, GROUP, NUMBERS };

int
tls_program_open(void)
{
	return program_open("nfdns-tls");
}

pid_t
tls_start(int program, const struct tls_start *start)
{
	const uint32_t values[NUMBERS] = {
		[CHANNEL] = (uint32_t)start->channel,
		[AUTHORITIES] = (uint32_t)start->authorities,
		[PARENT] = (uint32_t)start->parent, [USER] = start->uid,
		[GROUP] = start->gid,
	};

	return program_start(program, "nfdns-tls", values, NUMBERS, FILES);
}

bool
tls_start_read(struct tls_start *start, int argc, char **argv)
{
	uint32_t values[NUMBERS];

	if (!program_values(argc, argv, values, NUMBERS))
		return false;
	for (int i = 0; i <= PARENT; i++)
		if (values[i] > INT_MAX)
			return false;
	*start = (struct tls_start){
		.channel = (int)values[CHANNEL],
		.authorities = (int)values[AUTHORITIES],
		.parent = (pid_t)values[PARENT],
		.uid = values[USER],
		.gid = values[GROUP],
	};
	return true;
}

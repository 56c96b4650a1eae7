/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/tls/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "nfq/process/sandbox.h"

#define PROGRAM		"nfdns-tls"
#define ARGUMENT	"--for-nfdnsd"	/* the numbers follow it */

enum { CHANNEL, AUTHORITIES, PARENT, USER, GROUP, NUMBERS };
#define ARGUMENTS	(2 + NUMBERS)
#define NUMBER_TEXT	24

int
tls_program_open(void)
{
	static const char *const places[] = { "", "../libexec/nfdns/" };
	char path[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *name;
	int fd = -1;

	if (n < 0)
		return -errno;
	path[n] = '\0';
	name = strrchr(path, '/');
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && fd < 0 &&
	    name != NULL; i++) {
		const size_t room = sizeof(path) - (size_t)(name + 1 - path);

		if (snprintf(name + 1, room, "%s" PROGRAM, places[i]) <
		    (int)room)
			fd = open(path, O_PATH | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

/* The child, up to its new program.  Returns only if that fails. */
static void
become(int program, const struct tls_start *start)
{
	const long long values[NUMBERS] = {
		[CHANNEL] = start->channel, [AUTHORITIES] = start->authorities,
		[PARENT] = start->parent, [USER] = start->uid,
		[GROUP] = start->gid,
	};
	int keep[] = { start->channel, start->authorities, program };
	char name[] = PROGRAM, argument[] = ARGUMENT;
	char texts[NUMBERS][NUMBER_TEXT];
	char *arguments[ARGUMENTS + 1] = { name, argument };

	for (size_t i = 0; i < NUMBERS; i++) {
		(void)snprintf(texts[i], NUMBER_TEXT, "%lld", values[i]);
		arguments[2 + i] = texts[i];
	}
	if (fcntl(start->channel, F_SETFD, 0) == 0 &&
	    fcntl(start->authorities, F_SETFD, 0) == 0 &&
	    child_isolate(keep, sizeof(keep) / sizeof(keep[0])) == 0 &&
	    sandbox_clear_ambient() == 0)
		(void)fexecve(program, arguments, environ);
}

pid_t
tls_start(int program, const struct tls_start *start)
{
	const pid_t pid = fork();

	if (pid == 0) {
		become(program, start);
		_exit(EXIT_FAILURE);
	}
	return pid < 0 ? -errno : pid;
}

/* Decimal digits.  False: it is none of ours. */
static bool
read_number(const char *text, long long most, long long *value)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 10);
	return errno == 0 && end != text && *end == '\0' && *value >= 0 &&
	    *value <= most;
}

bool
tls_start_read(struct tls_start *start, int argc, char **argv)
{
	long long values[NUMBERS];

	if (argc != ARGUMENTS || strcmp(argv[1], ARGUMENT) != 0)
		return false;
	for (size_t i = 0; i < NUMBERS; i++)
		if (!read_number(argv[2 + i], i < USER ? INT_MAX : UINT32_MAX,
		    &values[i]))
			return false;
	*start = (struct tls_start){
		.channel = (int)values[CHANNEL],
		.authorities = (int)values[AUTHORITIES],
		.parent = (pid_t)values[PARENT],
		.uid = (uid_t)values[USER],
		.gid = (gid_t)values[GROUP],
	};
	return true;
}

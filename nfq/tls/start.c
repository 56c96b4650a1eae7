/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "nfq/process/sandbox.h"
#include "nfq/tls/start.h"
#include "resolver/text/number.h"

/*
 * Programs of ours that nfdnsd executes, to do what a fork of itself should not:
 * the new one has nothing of the supervisor's memory.
 */

#define PROGRAM_VALUES	8	/* numbers that one can be told, at most */
#define ARGUMENT	"--for-nfdnsd"	/* the numbers follow it */
#define NUMBER_TEXT	12

/*
 * The program of that name: beside the one that runs, or where "make install" puts
 * it.  Opened once, at the start, so that an upgrade does not bring a program that
 * this one does not understand.  A descriptor (O_PATH) or a negative errno.
 */
static int
program_open(const char *name)
{
	static const char *const places[] = { "", "../libexec/nfdns/" };
	char path[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *last;
	int fd = -1;

	if (n < 0)
		return -errno;
	path[n] = '\0';
	last = strrchr(path, '/');
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && fd < 0 &&
	    last != NULL; i++) {
		const size_t room = sizeof(path) - (size_t)(last + 1 - path);

		if (snprintf(last + 1, room, "%s%s", places[i], name) <
		    (int)room)
			fd = open(path, O_PATH | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

/* The child, up to its new program.  Returns only if that fails. */
static void
become(int program, const char *name, const uint32_t *values, size_t count,
    size_t files)
{
	char own[NAME_MAX + 1], argument[] = ARGUMENT;
	char texts[PROGRAM_VALUES][NUMBER_TEXT];
	char *arguments[2 + PROGRAM_VALUES + 1] = { own, argument };
	int keep[PROGRAM_VALUES + 1];

	(void)snprintf(own, sizeof(own), "%s", name);
	for (size_t i = 0; i < count; i++) {
		(void)snprintf(texts[i], NUMBER_TEXT, "%" PRIu32, values[i]);
		arguments[2 + i] = texts[i];
	}
	for (size_t i = 0; i < files; i++) {
		keep[i] = (int)values[i];
		if (fcntl(keep[i], F_SETFD, 0) < 0)
			return;
	}
	keep[files] = program;
	if (child_isolate(keep, files + 1) == 0 && sandbox_clear_ambient() == 0)
		(void)fexecve(program, arguments, environ);
}

/*
 * Forks and executes it.  "values" are numbers for program_values(), none
 * negative; the first "files" of them are descriptors that stay open in it, under
 * the same numbers.  Its process id, or a negative errno; the descriptors stay
 * the caller's.
 */
static pid_t
program_start(int program, const char *name, const uint32_t *values,
    size_t count, size_t files)
{
	pid_t pid;

	assert(files <= count && count <= PROGRAM_VALUES);
	pid = fork();
	if (pid == 0) {
		become(program, name, values, count, files);
		_exit(EXIT_FAILURE);
	}
	return pid < 0 ? -errno : pid;
}

/* In the program: false if the arguments are not those of program_start(). */
static bool
program_values(int argc, char **argv, uint32_t *values, size_t count)
{
	uint64_t number;

	if (argc != (int)count + 2 || strcmp(argv[1], ARGUMENT) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!number_from_text(argv[2 + i], UINT32_MAX, &number))
			return false;
		values[i] = (uint32_t)number;
	}
	return true;
}

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

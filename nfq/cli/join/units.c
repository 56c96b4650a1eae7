/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/join/units.h"

#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <unistd.h>

#define MAX_WORDS	8

bool
units_are_there(void)
{
	return access("/run/systemd/system", F_OK) == 0;
}

static int
wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

int
units_call(bool quiet, const char *const *words)
{
	union {
		const char *const *words;
		char *const *argv;	/* as posix_spawn(3) wants it */
	} arguments;
	const char *all[MAX_WORDS + 2] = { "systemctl" };
	posix_spawn_file_actions_t actions;
	size_t count = 0;
	pid_t pid = -1;
	int error;

	for (; count < MAX_WORDS && words[count] != NULL; count++)
		all[count + 1] = words[count];
	arguments.words = all;
	if (posix_spawn_file_actions_init(&actions) != 0)
		return -ENOMEM;
	error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO,
	    "/dev/null", O_RDONLY, 0);
	if (error == 0)
		error = posix_spawn_file_actions_addopen(&actions,
		    STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (error == 0 && quiet)
		error = posix_spawn_file_actions_adddup2(&actions,
		    STDOUT_FILENO, STDERR_FILENO);
	if (error == 0)
		error = posix_spawnp(&pid, all[0], &actions, NULL,
		    arguments.argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return error != 0 ? -error : wait_for(pid);
}

bool
units_are_enabled(const char *unit)
{
	return units_call(true, (const char *const[]){ "is-enabled", unit,
	    NULL }) == 0;
}

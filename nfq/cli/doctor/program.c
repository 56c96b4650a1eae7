/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/doctor/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Its exit status; it is killed if it runs longer. */
static int
wait_for(pid_t pid, int timeout_ms)
{
	const int fd = timeout_ms >= 0 ? pidfd_open(pid, 0) : -1;
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	int status, late = 0;

	if (fd >= 0 && poll(&wait, 1, timeout_ms) == 0) {
		(void)kill(pid, SIGKILL);
		late = 1;
	}
	if (fd >= 0)
		(void)close(fd);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (late)
		return -ETIMEDOUT;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

int
program_run(const char *const *words, int output, int quiet, int timeout_ms)
{
	union {
		const char *const *words;
		char *const *argv;	/* as posix_spawn(3) wants it */
	} arguments = { .words = words };
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;
	int error;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return -ENOMEM;
	error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO,
	    "/dev/null", O_RDONLY, 0);
	if (error == 0 && quiet)
		error = posix_spawn_file_actions_addopen(&actions,
		    STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (error == 0)
		error = posix_spawn_file_actions_adddup2(&actions, output,
		    STDOUT_FILENO);
	if (error == 0)
		error = posix_spawnp(&pid, words[0], &actions, NULL,
		    arguments.argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return error != 0 ? -error : wait_for(pid, timeout_ms);
}

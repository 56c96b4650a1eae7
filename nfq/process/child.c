/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/child.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int
compare_fds(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Closes everything between the kept files and above the last of them. */
static int
close_others(int *keep, size_t count)
{
	unsigned int next = STDERR_FILENO + 1;

	qsort(keep, count, sizeof(*keep), compare_fds);
	for (size_t i = 0; i < count; i++) {
		unsigned int fd;

		if (keep[i] < 0 || (unsigned int)keep[i] < next)
			continue;	/* none, a standard file, or a duplicate */
		fd = (unsigned int)keep[i];
		if (fd > next && close_range(next, fd - 1, 0) < 0)
			return -errno;
		next = fd + 1;
	}
	return close_range(next, UINT_MAX, 0) < 0 ? -errno : 0;
}

int
child_isolate(int *keep, size_t count)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGTERM, SIGUSR1,
		SIGUSR2, SIGQUIT, SIGPIPE };
	sigset_t none;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		(void)signal(ignored[i], SIG_IGN);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	return close_others(keep, count);
}

int
child_die_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	/* If it died before the prctl(2), this process has a new parent. */
	return getppid() == parent ? 0 : -ESRCH;
}

const char *
child_end_text(int wait_status, char buf[static CHILD_TEXT])
{
	if (WIFEXITED(wait_status)) {
		(void)snprintf(buf, CHILD_TEXT, "exit status %d",
		    WEXITSTATUS(wait_status));
	} else {
		const char *name = sigabbrev_np(WTERMSIG(wait_status));

		(void)snprintf(buf, CHILD_TEXT, "signal %s%s",
		    name != NULL ? "SIG" : "",
		    name != NULL ? name : "of unknown name");
	}
	return buf;
}

int
child_reap(pid_t pid, int *wait_status)
{
	for (;;) {
		if (waitpid(pid, wait_status, 0) == pid)
			return 0;
		if (errno != EINTR)
			return -errno;
	}
}

uint64_t
child_raise_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return UINT64_MAX;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur;
}

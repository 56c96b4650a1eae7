/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/daemon_signal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "nfq/cli/message.h"
#include "nfq/supervisor/run_dir.h"

/* -EBADF if the page's process does not hold the lock. */
static int
send_signal(const struct status_page *page, const char *run_dir, int number,
    const int *value)
{
	siginfo_t info = { .si_signo = number, .si_code = SI_QUEUE };
	int pidfd, error = 0;
	pid_t pid;

	info.si_pid = getpid();
	info.si_uid = getuid();
	if (value != NULL)
		info.si_value.sival_int = *value;
	pidfd = run_dir_holder(run_dir, &pid);
	if (pidfd < 0)
		return pidfd;
	if (pid != atomic_load(&page->supervisor->pid))
		error = -EBADF;
	else if (pidfd_send_signal(pidfd, number, value != NULL ? &info : NULL,
	    0) < 0)
		error = -errno;
	(void)close(pidfd);
	return error;
}

int
daemon_signal(const struct status_page *page, const char *run_dir,
    const char *command, int number, const int *value)
{
	int error = send_signal(page, run_dir, number, value);

	if (error == 0 || command == NULL)
		return error;
	if (error == -ESRCH)
		(void)cli_no_daemon(command, run_dir, error);
	else if (error == -EPERM)
		cli_error("%s: may not signal nfdnsd; run as root", command);
	else if (error == -EBADF)
		cli_error("%s: run_dir \"%s\" is not as nfdnsd made it: "
		    "the process that its status page names does not hold the "
		    "lock on " RUN_DIR_LOCK_FILE "; no process was signalled; "
		    "find out who wrote there, then restart nfdnsd", command,
		    run_dir);
	else
		cli_error("%s: cannot signal nfdnsd: %s", command,
		    strerror(-error));
	return error;
}

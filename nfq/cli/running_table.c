/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/running_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nfq/cli/message.h"
#include "nfq/process/exit_code.h"
#include "policy/status/status.h"

/*
 * Opens the supervisor's memory file through /proc; the file is sealed, so no
 * process can change it.  A reload at the same moment may close the descriptor or
 * give its number to another file.  So the generation is compared before and
 * after, and if it changed, the open is tried again.
 */
static int
open_image(const struct status_page *page)
{
	const struct status_supervisor *s = page->supervisor;

	for (;;) {
		uint64_t generation = atomic_load(&s->table_generation);
		char path[64];
		int fd;

		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d",
		    (int)atomic_load(&s->pid), (int)atomic_load(&s->table_fd));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (generation == atomic_load(&s->table_generation))
			return fd < 0 ? -errno : fd;
		if (fd >= 0)
			(void)close(fd);
	}
}

int
running_table_open(const char *run_dir, int *exit_code)
{
	struct status_page page;
	int error = status_open(&page, run_dir), fd;

	if (error < 0) {
		*exit_code = cli_no_daemon("table", run_dir, error);
		return -1;
	}
	fd = open_image(&page);
	status_close(&page);
	if (fd >= 0)
		return fd;
	*exit_code = EXIT_ERROR;
	if (fd == -EACCES || fd == -EPERM)
		cli_error("table: may not open the table of nfdnsd; run as "
		    "root");
	else if (fd == -ENOENT)
		*exit_code = cli_no_daemon("table", run_dir, -ESRCH);
	else
		cli_error("table: cannot open the table of nfdnsd: %s",
		    strerror(-fd));
	return -1;
}

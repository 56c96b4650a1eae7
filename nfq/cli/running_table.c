/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "nfdns table" where the running daemon's table is asked for. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "policy/status/status.h"
#include "nfq/cli/table.h"
#include "nfq/process/exit_code.h"

static bool
asks_for_running(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--running") == 0 ||
		    strcmp(argv[i], "-r") == 0)
			return true;
	return false;
}

/*
 * The supervisor's memory file, which nobody can change.  Should a reload come
 * between, its number is another file's, or none: then it is looked up again.
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

/* An fd, or an exit code as a negative number after a message. */
static int
open_running(const char *run_dir)
{
	struct status_page page;
	int error = status_open(&page, run_dir), fd;

	if (error < 0)
		return -report_no_daemon("table", run_dir, error);
	fd = open_image(&page);
	status_close(&page);
	if (fd >= 0)
		return fd;
	if (fd == -EACCES || fd == -EPERM)
		(void)fprintf(stderr, "nfdns: table: may not look at nfdnsd's "
		    "table: run as root\n");
	else if (fd == -ENOENT)
		return -report_no_daemon("table", run_dir, -ESRCH);
	else
		(void)fprintf(stderr, "nfdns: table: cannot open nfdnsd's "
		    "table: %s\n", strerror(-fd));
	return -EXIT_ERROR;
}

int
cmd_table_here(const struct config *config, int argc, char **argv)
{
	int running = -1, code;

	if (asks_for_running(argc, argv)) {
		running = open_running(config->run_dir);
		if (running < 0)
			return -running;
	}
	code = cmd_table(&config->mesh, running, argc, argv);
	if (running >= 0)
		(void)close(running);
	return code;
}

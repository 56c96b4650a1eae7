/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/running_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nfq/cli/message.h"
#include "nfq/process/exit_code.h"
#include "policy/status/status.h"

/*
 * Opens a memory file of the supervisor through /proc, by the place where the
 * status page has its descriptor.  The table's file is sealed, so no process can
 * change it; that of the cache is copied by whoever reads it.  A reload at the same moment may close the descriptor or
 * give its number to another file.  So the generation is compared before and
 * after, and if it changed, the open is tried again.
 */
static int
open_file(struct status_page *page, const _Atomic int32_t *place)
{
	const struct status_supervisor *s = page->supervisor;

	for (;;) {
		uint64_t generation = atomic_load(&s->table_generation);
		char path[64];
		int fd, error;

		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d",
		    (int)atomic_load(&s->pid), (int)atomic_load(place));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
		error = status_refresh(page);
		if (error == 0 &&
		    generation == atomic_load(&s->table_generation))
			return fd;
		if (fd >= 0)
			(void)close(fd);
		if (error < 0)
			return error;
	}
}

/* As running_table_open(); "what" is in messages. */
static int
open_running(const char *run_dir, bool cache, int *exit_code)
{
	const char *what = cache ? "cache" : "table";
	struct status_page page;
	int error = status_open(&page, run_dir), fd;
	bool none;

	if (error < 0) {
		*exit_code = cli_no_daemon(what, run_dir, error);
		return -1;
	}
	fd = open_file(&page, cache ? &page.supervisor->cache_fd :
	    &page.supervisor->table_fd);
	none = cache && atomic_load(&page.supervisor->cache_fd) < 0;
	status_close(&page);
	if (fd >= 0)
		return fd;
	*exit_code = EXIT_ERROR;
	if (none)
		cli_error("cache: nfdnsd has none: set forward.domains and "
		    "forward.cache.size");
	else if (fd == -EACCES || fd == -EPERM)
		cli_error("%s: may not open the %s of nfdnsd; run as root",
		    what, what);
	else if (fd == -ENOENT || fd == -EPROTO)
		*exit_code = cli_no_daemon(what, run_dir, fd);
	else
		cli_error("%s: cannot open the %s of nfdnsd: %s", what, what,
		    strerror(-fd));
	return -1;
}

int
running_table_open(const char *run_dir, int *exit_code)
{
	return open_running(run_dir, false, exit_code);
}

int
running_cache_open(const char *run_dir, int *exit_code)
{
	return open_running(run_dir, true, exit_code);
}

/* Both files of one generation: a reload in between is noticed. */
static int
open_both(struct status_page *page, struct running_files *files)
{
	const struct status_supervisor *s = page->supervisor;

	for (;;) {
		files->generation = atomic_load(&s->table_generation);
		files->table = open_file(page, &s->table_fd);
		if (files->table < 0)
			return files->table;
		files->settings = open_file(page, &s->settings_fd);
		if (files->settings >= 0 && files->generation ==
		    atomic_load(&s->table_generation))
			return 0;
		(void)close(files->table);
		if (files->settings < 0)
			return files->settings;
		(void)close(files->settings);
	}
}

int
running_files_open(const char *run_dir, struct running_files *files)
{
	struct status_page page;
	int error = status_open(&page, run_dir);

	if (error < 0)
		return error;
	files->pid = (pid_t)atomic_load(&page.supervisor->pid);
	error = open_both(&page, files);
	status_close(&page);
	return error;
}

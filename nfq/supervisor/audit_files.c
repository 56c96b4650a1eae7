/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/supervisor/audit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/audit/format.h"
#include "policy/log.h"

/*
 * -EINVAL if it is not a regular file: a fifo without a reader, or a device,
 * would lose the records.  O_NONBLOCK keeps open(2) of a fifo from waiting.
 */
static int
open_file(const char *path)
{
	struct stat st;
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC |
	    O_NONBLOCK | O_NOCTTY, 0640);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return -EINVAL;
	}
	return fd;
}

static void
explain(const struct config *config, const struct config_audit *audit,
    int error, struct diag *diag)
{
	if (error == -EINVAL || error == -ENXIO || error == -EISDIR)
		diag_add(diag, DIAG_ERROR, config->path, audit->line,
		    "audit file \"%s\" is not a regular file: remove it or "
		    "name another", audit->path);
	else
		diag_add(diag, DIAG_ERROR, config->path, audit->line,
		    "cannot open audit file \"%s\": %s: make its directory, or "
		    "name another", audit->path, strerror(-error));
}

int
audit_files_open(
    struct audit_files *files, const struct config *config, struct diag *diag)
{
	int error = 0;

	files->count = 0;
	for (size_t i = 0; i < config->audit_count; i++) {
		const struct config_audit *audit = &config->audits[i];
		int fd = i < AUDIT_MAX_FILES ? open_file(audit->path) : -EMFILE;

		if (fd < 0) {
			explain(config, audit, fd, diag);
			error = -EIO;
			continue;
		}
		files->files[files->count++] =
		    (struct audit_file){.fd = fd, .sink = audit->sink};
	}
	if (error < 0)
		audit_files_close(files);
	return error;
}

/* Whether a file at path can be opened or created; 0 or a negative errno. */
static int
check_file(const char *path)
{
	char directory[PATH_MAX];
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (stat(path, &st) == 0)
		return S_ISREG(st.st_mode) ? 0 : -EINVAL;
	if (errno != ENOENT)
		return -errno;
	/* A configuration's paths are absolute. */
	if (slash == NULL || slash == path || slash - path >= PATH_MAX)
		return 0;
	(void)snprintf(directory, sizeof(directory), "%.*s",
	    (int)(slash - path), path);
	return stat(directory, &st) < 0 ? -errno : 0;
}

void
audit_files_check(const struct config *config, struct diag *diag)
{
	for (size_t i = 0; i < config->audit_count; i++) {
		const struct config_audit *audit = &config->audits[i];
		int error = check_file(audit->path);

		if (error < 0)
			explain(config, audit, error, diag);
	}
}

#define MEND_MAX	((off_t)1 << 30)

/* 0 or a negative errno. */
static int
mend(const struct audit_file *file)
{
	const struct audit_format *format = audit_formats[file->sink.format];
	char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	struct stat st;
	off_t whole;
	int fd;

	if (format->whole == NULL)
		return 0;
	if (fstat(file->fd, &st) < 0)
		return -errno;
	if (st.st_size > MEND_MAX)
		return 0;
	/* The worker's file is not open for reading. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	whole = format->whole(fd, st.st_size);
	(void)close(fd);
	if (whole < 0)
		return (int)whole;
	if (whole < st.st_size && ftruncate(file->fd, whole) < 0)
		return -errno;
	return 0;
}

void
audit_files_mend(const struct audit_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		int error = mend(&files->files[i]);

		if (error < 0)
			log_warning("audit file %zu: cannot see whether its "
			    "last record is whole: %s: programs may not read "
			    "what follows; rename it and send SIGUSR2", i + 1,
			    strerror(-error));
	}
}

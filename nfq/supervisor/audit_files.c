/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/supervisor/audit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "policy/audit/format.h"
#include "policy/log.h"

/*
 * -EINVAL if it is not a regular file: a fifo without a reader, or a device,
 * would lose the records.  O_NONBLOCK keeps open(2) of a fifo from waiting.
 * -ELOOP if it is a symbolic link: whoever may write in the directory could lead
 * records into any file.
 */
static int
open_file(const char *path)
{
	struct stat st;
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC |
	    O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, 0640);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return -EINVAL;
	}
	return fd;
}

/*
 * A connection to the program that listens there, or a negative errno.  Does not
 * wait: a program whose backlog is full is as one that is away.
 */
static int
open_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, error;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) ==
	    0)
		return fd;
	error = -errno;
	(void)close(fd);
	return error;
}

/* Whether the peer of a connection is there no more. */
static bool
is_gone(int fd)
{
	struct pollfd look = { .fd = fd };

	return poll(&look, 1, 0) > 0 && (look.revents & (POLLHUP | POLLERR)) !=
	    0;
}

/* The log is off, until the file can be opened. */
static void
warn(const struct config_audit *audit, int error, bool goes_on,
    struct diag *diag)
{
	diag_add(diag, DIAG_WARNING, audit->file, audit->line,
	    "cannot open audit file \"%s\": %s: %s until it can be opened; "
	    "make its directory, or name another", audit->path,
	    strerror(-error), goes_on ? "the file that is open goes on" :
	    "nothing is recorded there");
}

static void
explain(const struct config_audit *audit, int error, struct diag *diag)
{
	const char *place = audit->path;

	if (error == -EINVAL || error == -ENXIO || error == -EISDIR ||
	    error == -ELOOP)
		diag_add(diag, DIAG_ERROR, audit->file, audit->line,
		    "audit file \"%s\" is not a regular file: remove it or "
		    "name another", place);
	else
		diag_add(diag, DIAG_ERROR, audit->file, audit->line,
		    "cannot open audit file \"%s\": %s: make its directory, or "
		    "name another", place, strerror(-error));
}

static bool
is_same_file(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 &&
	    x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* A file of before; NULL if the sink is new. */
static const struct audit_file *
file_before(const struct audit_files *before, const struct audit_sink *sink)
{
	for (size_t i = 0; before != NULL && i < before->count; i++)
		if (before->files[i].sink.id == sink->id &&
		    before->files[i].sink.format == sink->format &&
		    before->files[i].fd >= 0)
			return &before->files[i];
	return NULL;
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

static void
mend_or_tell(const struct audit_file *file, const char *path)
{
	int error = mend(file);

	if (error < 0)
		log_warning("audit file %s: cannot see whether its last record "
		    "is whole: %s: programs may not read what follows; rename "
		    "it and send SIGUSR2", path, strerror(-error));
}

/*
 * Standard output is opened anew: that it does not block is to be nobody else's.  A
 * socket, as the journal's, cannot be.
 */
static int
open_output(void)
{
	int fd = open("/proc/self/fd/1", O_WRONLY | O_APPEND | O_CLOEXEC |
	    O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

/* What is no file. */
static int
open_other(const struct config_audit *audit)
{
	const char *path = config_audit_socket(audit);

	return path != NULL ? open_socket(path) : open_output();
}

/* A file that no worker has open may end with a part of a record. */
static int
open_entry(const struct config_audit *audit, const struct audit_files *before)
{
	const struct audit_file *old = file_before(before, &audit->sink);
	struct audit_file file = { .sink = audit->sink };

	if (!config_audit_is_file(audit) && old != NULL)
		return fcntl(old->fd, F_DUPFD_CLOEXEC, 0);
	if (!config_audit_is_file(audit)) {
		file.fd = open_other(audit);
		if (file.fd < 0)
			log_warning("nothing takes audit records at %s: %s; "
			    "trying again", audit->path, strerror(-file.fd));
		return file.fd < 0 ? -1 : file.fd;
	}
	file.fd = open_file(audit->path);
	if (file.fd >= 0 && (old == NULL || !is_same_file(old->fd, file.fd)))
		mend_or_tell(&file, audit->path);
	return file.fd;
}

/* What is open goes on; -1: nothing is. */
static int
same_as_before(const struct audit_files *before, const struct audit_sink *sink)
{
	const struct audit_file *old = file_before(before, sink);

	const int fd = old == NULL ? -1 :
	    fcntl(old->fd, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? -1 : fd;
}

int
audit_files_open(struct audit_files *files, const struct config *config,
    const struct audit_files *before, struct diag *diag)
{
	int error = 0;

	files->count = 0;
	for (size_t i = 0; i < config->audit_count; i++) {
		const struct config_audit *audit = &config->audits[i];
		int fd = open_entry(audit, before);

		/* A daemon that has started once starts again. */
		if (fd < 0 && config_audit_is_file(audit) && (before == NULL ||
		    fd == -ENOENT)) {
			const int why = fd;

			fd = same_as_before(before, &audit->sink);
			warn(audit, why, fd >= 0, diag);
		} else if (fd < 0 && config_audit_is_file(audit)) {
			explain(audit, fd, diag);
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

size_t
audit_files_connect(struct audit_files *files, const struct config *config,
    struct audit_files *fresh)
{
	size_t connected = 0;

	*fresh = *files;
	for (size_t i = 0; i < files->count; i++) {
		const struct config_audit *audit = &config->audits[i];
		struct audit_file *file = &files->files[i];

		fresh->files[i].fd = -1;
		if (file->fd >= 0 && (config_audit_socket(audit) == NULL ||
		    !is_gone(file->fd)))
			continue;
		fresh->files[i].fd = config_audit_is_file(audit) ?
		    open_file(audit->path) : open_other(audit);
		if (fresh->files[i].fd < 0) {
			fresh->files[i].fd = -1;
			continue;
		}
		if (file->fd >= 0)
			(void)close(file->fd);
		file->fd = fresh->files[i].fd;
		connected++;
		if (config_audit_is_file(audit))
			mend_or_tell(file, audit->path);
		log_info("audit records go to %s", audit->path);
	}
	return connected;
}

/* Whether a file at path can be opened or created; 0 or a negative errno. */
static int
check_file(const char *path)
{
	char directory[PATH_MAX];
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (lstat(path, &st) == 0)
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
		int error = config_audit_is_file(audit) ?
		    check_file(audit->path) : 0;

		if (error == -ENOENT)
			warn(audit, error, false, diag);
		else if (error < 0)
			explain(audit, error, diag);
	}
}

static bool
is_full(const struct audit_file *file)
{
	struct stat st;

	return file->fd >= 0 && file->sink.max_size != 0 &&
	    fstat(file->fd, &st) == 0 &&
	    st.st_size >= (off_t)file->sink.max_size << 20;
}

bool
audit_files_problem(const struct audit_files *files,
    const struct config *config, char *text, size_t size)
{
	for (size_t i = 0; i < files->count && i < config->audit_count; i++) {
		const struct config_audit *audit = &config->audits[i];
		const char *path = audit->path;
		int error;

		if (!config_audit_is_file(audit))
			continue;
		if (is_full(&files->files[i])) {
			(void)snprintf(text, size, "audit file %s has its "
			    "max_size: nothing more is recorded there; rename "
			    "it and send SIGUSR2", path);
			return true;
		}
		if (files->files[i].fd >= 0)
			continue;
		error = check_file(path);
		(void)snprintf(text, size, "audit file %s cannot be opened: "
		    "%s: nothing is recorded there", path, error < 0 ?
		    strerror(-error) : "no permission");
		return true;
	}
	return false;
}

void
audit_files_mend(const struct audit_files *files, const struct config *config)
{
	for (size_t i = 0; i < files->count && i < config->audit_count; i++)
		if (files->files[i].fd >= 0 &&
		    config_audit_is_file(&config->audits[i]))
			mend_or_tell(&files->files[i], config->audits[i].path);
}

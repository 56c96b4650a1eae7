/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/supervisor/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
path_of(char path[static PATH_MAX], const char *run_dir, const char *name)
{
	int n = snprintf(path, PATH_MAX, "%s/%s", run_dir, name);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/*
 * A lock of fcntl(2), not flock(2): children do not inherit it, and the kernel
 * tells which process holds it.
 */
static int
lock_file(int fd, pid_t *holder)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_SETLK, &lock) == 0)
		return 0;
	if (errno != EACCES && errno != EAGAIN)
		return -errno;
	*holder = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ?
	    lock.l_pid : 0;
	return -EBUSY;
}

/* Whether path still names this file: its last owner may have removed it. */
static bool
is_current(int fd, const char *path)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && lstat(path, &there) == 0 &&
	    ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

static int
write_pid(const char *run_dir)
{
	char path[PATH_MAX], text[24];
	int length = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	int fd, error = path_of(path, run_dir, RUN_DIR_PID_FILE);

	if (error < 0)
		return error;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK, 0644);
	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0644) < 0 || write(fd, text, (size_t)length) != length)
		error = errno != 0 ? -errno : -EIO;
	(void)close(fd);
	return error;
}

/*
 * An fd that holds the lock, or a negative errno.  Who can open the file for reading
 * can hold a read lock on it, and so keep every daemon out: only its user can.
 */
static int
take_file(const char *path, pid_t *holder)
{
	for (;;) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
		    O_NONBLOCK, 0600);
		int error;

		if (fd < 0)
			return -errno;
		error = lock_file(fd, holder);
		if (error == 0 && !is_current(fd, path)) {
			(void)close(fd);
			continue;
		}
		if (error == 0 && fchmod(fd, 0600) < 0)
			error = -errno;
		if (error < 0) {
			(void)close(fd);
			return error;
		}
		return fd;
	}
}

int
run_dir_take(const char *run_dir, struct diag *diag)
{
	char path[PATH_MAX];
	pid_t holder = 0;
	int error, fd;

	if (mkdir(run_dir, 0755) < 0 && errno != EEXIST)
		fd = -errno;
	else
		fd = path_of(path, run_dir, RUN_DIR_LOCK_FILE);
	if (fd == 0)
		fd = take_file(path, &holder);
	if (fd >= 0 && (error = write_pid(run_dir)) < 0) {
		(void)close(fd);
		fd = error;
	}
	if (fd == -EBUSY)
		diag_add(diag, DIAG_ERROR, NULL, 0, "another nfdnsd (pid %d) "
		    "has run_dir \"%s\": stop it, or give this one another "
		    "run_dir", (int)holder, run_dir);
	else if (fd < 0)
		diag_add(diag, DIAG_ERROR, NULL, 0, "cannot write to run_dir "
		    "\"%s\": %s: make it writable, or change run_dir", run_dir,
		    strerror(-fd));
	return fd;
}

void
run_dir_leave(const char *run_dir, int fd)
{
	char path[PATH_MAX];

	if (fd < 0)
		return;
	if (path_of(path, run_dir, RUN_DIR_PID_FILE) == 0)
		(void)unlink(path);
	if (path_of(path, run_dir, RUN_DIR_LOCK_FILE) == 0)
		(void)unlink(path);
	(void)close(fd);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded by test_join: the KILL_AT-th call that changes a file system is the
 * last thing that the process does not do any more.
 */
#include <sys/stat.h>
#include <sys/types.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void
count(void)
{
	static long left;
	static int begun;
	const char *text = getenv("KILL_AT");

	if (!begun && text != NULL)
		left = strtol(text, NULL, 10);
	begun = 1;
	if (left > 0 && --left == 0)
		(void)raise(SIGKILL);
}

#define COUNTED(type, name, parameters, arguments)			\
type									\
name parameters								\
{									\
	type (*real) parameters = (type (*) parameters)dlsym(RTLD_NEXT, #name); \
									\
	count();							\
	return real arguments;						\
}

COUNTED(ssize_t, write, (int fd, const void *octets, size_t n), (fd, octets, n))
COUNTED(int, fsync, (int fd), (fd))
COUNTED(int, fchmod, (int fd, mode_t mode), (fd, mode))
COUNTED(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
COUNTED(int, mkdir, (const char *path, mode_t mode), (path, mode))
COUNTED(int, rmdir, (const char *path), (path))
COUNTED(int, unlink, (const char *path), (path))
COUNTED(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags))
COUNTED(int, renameat, (int a, const char *from, int b, const char *to),
    (a, from, b, to))
COUNTED(int, link, (const char *from, const char *to), (from, to))

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/last_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "policy/match/rules.h"
#include "resolver/fds.h"
#include "resolver/replace.h"

/* NULL: no memory. */
static char *
path_in(const struct config *config)
{
	char *path = NULL;

	return asprintf(&path, "%s/" LAST_IMAGE, config->state_dir) < 0 ?
	    NULL : path;
}

/* Static text, or NULL: root or this user has written it, and nobody else. */
static const char *
why_not_ours(int fd, struct stat *st)
{
	if (fstat(fd, st) < 0)
		return strerror(errno);
	if (!S_ISREG(st->st_mode))
		return "it is not a regular file";
	return (st->st_uid != 0 && st->st_uid != geteuid()) ||
	    (st->st_mode & (S_IWGRP | S_IWOTH)) != 0 ?
	    "other users may write it" : NULL;
}

/* Static text, or NULL: a worker can answer from it. */
static const char *
why_not_sound(int fd)
{
	struct table *table = NULL;
	struct rules *rules = NULL;
	const char *why = NULL;
	const uint8_t *policy;
	size_t size;

	if (table_open(&table, fd, &why) == 0) {
		policy = table_policy(table, &size);
		if (rules_open(&rules, policy, size, &why) == 0)
			why = NULL;
	}
	rules_close(rules);
	table_close(table);
	return why;
}

/* In memory, sealed, as a compiler's: nobody can write into it. */
static int
read_image(int file, const char **why)
{
	const int fd = memfd_create("nfdns-table",
	    MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int error = fd < 0 ? -errno : fds_copy(fd, file);

	if (error == 0)
		error = fds_seal(fd);
	*why = error < 0 ? strerror(-error) : why_not_sound(fd);
	if (*why == NULL)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return error < 0 ? error : -EINVAL;
}

/* A descriptor, or a negative errno and why. */
static int
open_file(const struct config *config, struct stat *st, const char **why)
{
	char *path = path_in(config);
	const int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC |
	    O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	const int error = fd < 0 ? -errno : -EPERM;

	free(path);
	*why = fd < 0 ? strerror(-error) : why_not_ours(fd, st);
	if (*why == NULL)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return error;
}

int
last_image_open(const struct config *config, int64_t *time, const char **why)
{
	struct stat st = { 0 };
	int file = open_file(config, &st, why), fd;

	if (file < 0)
		return file;
	fd = read_image(file, why);
	*time = (int64_t)st.st_mtime;
	(void)close(file);
	return fd;
}

bool
last_image_peek(const struct config *config, struct table_label *label)
{
	const char *why;
	struct stat st = { 0 }, of_config;
	const int fd = open_file(config, &st, &why);
	bool counts;

	if (fd < 0)
		return false;
	counts = table_peek(fd, label) == 0 &&
	    stat(config->path, &of_config) == 0 &&
	    of_config.st_mtime <= st.st_mtime;
	(void)close(fd);
	return counts;
}

/* The process that writes.  Returns its exit status: 0 or an errno. */
static int
write_image(const struct config *config, int image, pid_t parent)
{
	char *path = path_in(config);
	struct replace file;
	int error = path == NULL ? -ENOMEM : child_isolate(&image, 1);

	if (error == 0)
		error = child_die_with(parent);
	if (error == 0)
		error = replace_begin(&file, AT_FDCWD, path, 0600);
	if (error == -ENOENT && mkdir(config->state_dir, 0755) == 0)
		error = replace_begin(&file, AT_FDCWD, path, 0600);
	if (error == 0)
		error = replace_end(&file, REPLACE_DURABLY, fds_copy(file.fd,
		    image));
	free(path);
	return -error;
}

pid_t
last_image_write(const struct config *config, int image)
{
	const pid_t parent = getpid(), pid = fork();

	if (pid == 0)
		_exit(write_image(config, image, parent));
	return pid < 0 ? -errno : pid;
}

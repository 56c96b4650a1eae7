/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/handover/flush.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

size_t
flush_write(const struct flush *flush, uint8_t out[static FLUSH_OCTETS])
{
	out[0] = flush->below;
	memcpy(out + 1, flush->name.octets, flush->name.length);
	return 1U + flush->name.length;
}

int
flush_parse(struct flush *flush, const uint8_t *octets, size_t length)
{
	if (length < 2 || octets[0] > 1 ||
	    name_read_lower(&flush->name, octets + 1, length - 1) != 0 ||
	    flush->name.length != length - 1)
		return -EPROTO;
	flush->below = octets[0] == 1;
	return 0;
}

static int
path_of(char path[static PATH_MAX], const char *run_dir, uint32_t number)
{
	int n = snprintf(path, PATH_MAX, "%s/flush.%u", run_dir, number);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int
flush_leave(const struct flush *flush, const char *run_dir)
{
	uint8_t octets[FLUSH_OCTETS];
	const size_t length = flush_write(flush, octets);
	char path[PATH_MAX];
	int error = path_of(path, run_dir, flush->number);
	int fd;

	if (error < 0)
		return error;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
	    0644);
	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0644) < 0)
		error = -errno;
	else if (write(fd, octets, length) != (ssize_t)length)
		error = -EIO;
	(void)close(fd);
	if (error < 0)
		(void)unlink(path);
	return error;
}

void
flush_remove(uint32_t number, const char *run_dir)
{
	char path[PATH_MAX];

	if (path_of(path, run_dir, number) == 0)
		(void)unlink(path);
}

int
flush_take(struct flush *flush, uint32_t number, const char *run_dir)
{
	uint8_t octets[FLUSH_OCTETS + 1];
	char path[PATH_MAX];
	struct stat st;
	ssize_t length = -1;
	int error = path_of(path, run_dir, number);
	int fd;

	flush->number = number;
	if (error < 0)
		return error;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		length = read(fd, octets, sizeof(octets));
	(void)close(fd);
	return length < 0 ? -EPROTO :
	    flush_parse(flush, octets, (size_t)length);
}

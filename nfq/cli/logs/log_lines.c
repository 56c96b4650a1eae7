/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/logs/log_text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_MS		200

int
log_lines_open(struct log_lines *l, const char *path)
{
	/* A named pipe would wait for its writer. */
	const bool input = strcmp(path, "-") == 0;
	const int fd = input ? dup(STDIN_FILENO) : open(path,
	    O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	int error = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		error = -errno;
	else if (!input && !S_ISREG(st.st_mode))
		error = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if (error < 0) {
		(void)close(fd);
		return error;
	}
	l->fd = fd;
	l->regular = S_ISREG(st.st_mode);
	l->skipping = false;
	l->number = 0;
	l->begin = l->end = 0;
	return 0;
}

void
log_lines_close(struct log_lines *l)
{
	if (l->fd >= 0)
		(void)close(l->fd);
	l->fd = -1;
}

/* How many octets came. */
static ssize_t
fill(struct log_lines *l)
{
	ssize_t n;

	memmove(l->octets, l->octets + l->begin, l->end - l->begin);
	l->end -= l->begin;
	l->begin = 0;
	do
		n = read(l->fd, l->octets + l->end, LOG_LINE_MAX - l->end);
	while (n < 0 && errno == EINTR);
	l->end += n > 0 ? (size_t)n : 0;
	return n < 0 ? -errno : n;
}

/* The octets up to "end" are a line, or the beginning of one that is too long. */
static ssize_t
give(struct log_lines *l, const char **line, size_t end, size_t next)
{
	const size_t begin = l->begin;

	*line = l->octets + begin;
	l->begin = next;
	return (ssize_t)(end - begin);
}

ssize_t
log_lines_next(struct log_lines *l, const char **line)
{
	for (;;) {
		const char *at = memchr(l->octets + l->begin, '\n',
		    l->end - l->begin);
		const bool skipped = l->skipping;
		ssize_t n;

		if (at != NULL) {
			const size_t end = (size_t)(at - l->octets);

			l->skipping = false;
			n = give(l, line, end, end + 1);
			if (skipped)
				continue;
			l->number++;
			return n;
		}
		if (l->end - l->begin == LOG_LINE_MAX) {
			l->skipping = true;
			n = give(l, line, l->end, l->end);
			if (skipped)
				continue;
			l->number++;
			return n;
		}
		n = fill(l);
		if (n < 0)
			return n;
		if (n > 0)
			continue;
		/* What was written in part may be removed: it is read again. */
		if (l->regular && lseek(l->fd, -(off_t)(l->end - l->begin),
		    SEEK_CUR) >= 0)
			l->end = l->begin;
		if (l->end == l->begin)
			return -EAGAIN;
		n = give(l, line, l->end, l->end);
		l->number++;
		return n;
	}
}

bool
log_lines_is_cut(const struct log_lines *l)
{
	struct stat st;

	return l->regular && fstat(l->fd, &st) == 0 &&
	    lseek(l->fd, 0, SEEK_CUR) < st.st_size;
}

/* The file that has the path now, if it is another one and not empty. */
static void
take_next(struct log_lines *l, const char *path)
{
	struct stat ours, now;
	struct log_lines next;

	if (!l->regular || fstat(l->fd, &ours) < 0 || stat(path, &now) < 0 ||
	    (ours.st_dev == now.st_dev && ours.st_ino == now.st_ino) ||
	    now.st_size == 0 || log_lines_open(&next, path) < 0)
		return;
	log_lines_close(l);
	*l = next;
}

bool
log_lines_wait(struct log_lines *l, const char *path, int out)
{
	/* Without events only errors are told, as of a closed pipe. */
	struct pollfd wait = { .fd = out };
	struct stat st;

	(void)poll(&wait, 1, LOOK_MS);
	if ((wait.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0)
		return false;
	/* One that is shorter than it was is read from its beginning. */
	if (l->regular && fstat(l->fd, &st) == 0 &&
	    lseek(l->fd, 0, SEEK_CUR) > st.st_size)
		(void)lseek(l->fd, 0, SEEK_SET);
	/* All that was written before the rotation has been read. */
	if (!log_lines_is_cut(l))
		take_next(l, path);
	return true;
}

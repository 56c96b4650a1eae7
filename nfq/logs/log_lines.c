/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/logs/log_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct log_lines {
	char *path;			/* NULL: standard input */
	gzFile file;
	dev_t device;
	ino_t inode;
	bool skipping;			/* the rest of a line that is too long */
	size_t begin, end;		/* of what is read and not given out */
	char octets[LOG_LINE_MAX];
};

/* A name pipe would wait for its writer; a directory has no lines. */
static int
open_file(struct log_lines *lines, const char *path)
{
	const int fd = path != NULL ?
	    open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) :
	    dup(STDIN_FILENO);
	struct stat status;
	int error = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0)
		error = -errno;
	else if (path != NULL && !S_ISREG(status.st_mode))
		error = S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
	if (error == 0 && (lines->file = gzdopen(fd, "r")) == NULL)
		error = -ENOMEM;
	if (error < 0) {
		(void)close(fd);
		return error;
	}
	lines->device = status.st_dev;
	lines->inode = status.st_ino;
	lines->begin = lines->end = 0;
	lines->skipping = false;
	return 0;
}

struct log_lines *
log_lines_open(const char *path)
{
	struct log_lines *lines = calloc(1, sizeof(*lines));
	int error = lines != NULL ? 0 : -ENOMEM;

	if (error == 0 && strcmp(path, "-") != 0 &&
	    (lines->path = strdup(path)) == NULL)
		error = -ENOMEM;
	if (error == 0)
		error = open_file(lines, lines->path);
	if (error == 0)
		return lines;
	if (lines != NULL)
		free(lines->path);
	free(lines);
	errno = -error;
	return NULL;
}

void
log_lines_close(struct log_lines *lines)
{
	if (lines == NULL)
		return;
	(void)gzclose(lines->file);
	free(lines->path);
	free(lines);
}

/* Reads on behind what is there.  False: nothing came. */
static bool
fill(struct log_lines *lines)
{
	int n;

	memmove(lines->octets, lines->octets + lines->begin,
	    lines->end - lines->begin);
	lines->end -= lines->begin;
	lines->begin = 0;
	gzclearerr(lines->file);	/* an end that has moved since */
	n = gzread(lines->file, lines->octets + lines->end,
	    (unsigned int)(LOG_LINE_MAX - lines->end));
	lines->end += n > 0 ? (size_t)n : 0;
	return n > 0;
}

static bool
is_broken(const struct log_lines *lines)
{
	int error;

	(void)gzerror(lines->file, &error);
	return error == Z_DATA_ERROR;
}

/* The next line, or the end of one that is too long. */
static bool
take_line(struct log_lines *lines, const char **text, size_t *length)
{
	const char *begin = lines->octets + lines->begin;
	const char *end = memchr(begin, '\n', lines->end - lines->begin);

	if (end == NULL)
		return false;
	*text = begin;
	*length = (size_t)(end - begin);
	lines->begin += *length + 1;
	return true;
}

enum log_next
log_lines_next(struct log_lines *lines, const char **text, size_t *length)
{
	for (;;) {
		if (take_line(lines, text, length)) {
			if (!lines->skipping)
				return LOG_LINE;
			lines->skipping = false;
			return LOG_LINE_LONG;
		}
		if (lines->end - lines->begin == LOG_LINE_MAX) {
			lines->skipping = true;
			lines->begin = lines->end;
		}
		if (!fill(lines))
			return is_broken(lines) ? LOG_BROKEN : LOG_WAIT;
	}
}

size_t
log_lines_rest(const struct log_lines *lines)
{
	return lines->end - lines->begin;
}

bool
log_lines_follow(struct log_lines *lines)
{
	struct stat status;
	gzFile old = lines->file;

	if (lines->path == NULL || stat(lines->path, &status) < 0 ||
	    (status.st_dev == lines->device && status.st_ino == lines->inode))
		return false;
	if (open_file(lines, lines->path) < 0)
		return false;
	(void)gzclose(old);
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/feed/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolver/fds.h"
#include "resolver/replace.h"

#define FILE_OCTETS_MAX	((off_t)1000 << 20)	/* as of a source's file */
#define WINDOW		((size_t)1 << 20)
#define PARTS_AT_ONCE	64

/* A file that is read piece by piece, and what becomes of the pieces. */
struct reading {
	const struct keep_file *file;
	off_t at;
	char *window;
	size_t size, have;		/* of the window */
	struct XXH3_state_s *hash;
};

static int
reading_begin(struct reading *r, const struct keep_file *file, off_t at)
{
	*r = (struct reading){ .file = file, .at = at, .size = WINDOW,
		.window = malloc(WINDOW), .hash = feed_file_hash_begin() };
	return r->window != NULL && r->hash != NULL ? 0 : -ENOMEM;
}

/* 0 if all was read, and what was hashed is the table; frees. */
static int
reading_end(struct reading *r, int error)
{
	struct feed_hash hash = { 0, 0 };

	if (r->hash != NULL)
		hash = feed_file_hash_end(r->hash);
	free(r->window);
	if (error == 0 && !feed_file_hash_equal(hash, r->file->header.hash))
		error = -EPROTO;
	return error;
}

/* The next octets come behind those in the window: how many; 0: the end. */
static ssize_t
read_more(struct reading *r)
{
	char *grown;
	ssize_t n;

	if (r->have == r->size) {
		grown = realloc(r->window, r->size * 2);
		if (grown == NULL)
			return -ENOMEM;
		r->window = grown;
		r->size *= 2;
	}
	do
		n = pread(r->file->fd, r->window + r->have, r->size - r->have,
		    r->at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	feed_file_hash_add(r->hash, r->window + r->have, (size_t)n);
	r->at += n;
	r->have += (size_t)n;
	return n;
}

/* Reads the names as far as there are any; they are no reason to fail. */
static int
read_names(struct reading *r, struct table_names *names)
{
	char text[FEED_TEXT];
	struct table_reader reader;
	int bad = table_reader_begin(&reader, r->file->header.format, SIZE_MAX,
	    text, sizeof(text));
	size_t used;
	ssize_t n;

	while ((n = read_more(r)) > 0) {
		used = r->have;
		if (bad == 0)
			bad = table_reader_take(&reader, r->window, r->have,
			    &used);
		if (used < r->have)
			memmove(r->window, r->window + used, r->have - used);
		r->have -= used;
	}
	(void)!table_reader_end(&reader, n < 0 ? (int)n : bad, r->have, names);
	return (int)n;
}

/* Of an open file: its header, and all that is behind it. */
static int
read_table(struct keep_file *file, struct table_names *names, const char **why)
{
	const int skip = feed_file_peek(&file->header, file->fd, why);
	struct reading r;
	int error;

	if (skip < 0)
		return skip;
	error = reading_begin(&r, file, skip);
	if (error == 0)
		error = read_names(&r, names);
	error = reading_end(&r, error);
	if (error == -EPROTO)
		*why = "its hash is another one: it was damaged";
	return error;
}

int
keep_file_read(struct keep_file *file, int directory, const char *name,
    struct table_names *names, const char **why)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY);
	int error = 0;

	*file = (struct keep_file){ .fd = fd };
	memset(names, 0, sizeof(*names));
	*why = "it is not a regular file";
	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? -EPROTO : -errno;
	if (fstat(fd, &file->stat) < 0)
		error = -errno;
	else if (!S_ISREG(file->stat.st_mode) ||
	    file->stat.st_size > FILE_OCTETS_MAX)
		error = -EPROTO;
	else
		error = read_table(file, names, why);
	if (error < 0) {
		table_names_free(names);
		keep_file_clear(file);
	}
	return error;
}

bool
keep_file_is_current(const struct keep_file *file, int directory,
    const char *name)
{
	const struct stat *a = &file->stat;
	struct stat b;

	if (fstatat(directory, name, &b, AT_SYMLINK_NOFOLLOW) < 0)
		return file->fd < 0;
	return file->fd >= 0 && a->st_dev == b.st_dev &&
	    a->st_ino == b.st_ino && a->st_size == b.st_size &&
	    a->st_ctim.tv_sec == b.st_ctim.tv_sec &&
	    a->st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

static void
header_write(struct iovec *part, const struct feed_header *header,
    char text[static FEED_FILE_HEADER_MAX])
{
	*part = (struct iovec){ text, feed_file_header_write(header, text) };
}

/* Behind the header; the table's own parts stay as they are. */
static int
write_parts(int fd, const struct feed_header *header,
    const struct feed_table *table)
{
	char text[FEED_FILE_HEADER_MAX];
	struct iovec parts[PARTS_AT_ONCE];
	size_t n = 1, i = 0;
	int error;

	header_write(&parts[0], header, text);
	do {
		while (n < PARTS_AT_ONCE && i < table->part_count)
			parts[n++] = table->parts[i++];
		error = fds_write_all(fd, parts, n);
		n = 0;
	} while (error == 0 && i < table->part_count);
	return error;
}

int
keep_file_write(struct keep_file *file, int directory, const char *name,
    const struct feed_header *header, const struct feed_table *table)
{
	struct replace fresh;
	/* nfdnsd, which reads it, is another user. */
	int error = replace_begin(&fresh, directory, name, 0644), fd;

	*file = KEEP_FILE_NONE;
	if (error < 0)
		return error;
	error = write_parts(fresh.fd, header, table);
	fd = fcntl(fresh.fd, F_DUPFD_CLOEXEC, 0);
	if (error == 0 && fd < 0)
		error = -errno;
	error = replace_end(&fresh, REPLACE_DURABLY, error);
	*file = (struct keep_file){ .header = *header, .fd = fd };
	/* Of a file that is open it does not fail; else it is read anew. */
	if (error == 0)
		(void)fstat(fd, &file->stat);
	else
		keep_file_clear(file);
	return error;
}

void
keep_file_clear(struct keep_file *file)
{
	if (file->fd >= 0)
		(void)close(file->fd);
	*file = KEEP_FILE_NONE;
}

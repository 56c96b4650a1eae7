/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/feed/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/log.h"
#include "resolver/fds.h"
#include "resolver/replace.h"
#include "resolver/sources/feed_file.h"

#define WINDOW		((size_t)64 << 10)
#define PARTS_AT_ONCE	64

/* One of state_dir's tables, open: it can be read also when it is replaced. */
struct keep_file {
	struct feed_header header;
	int fd;				/* -1: there is none */
	struct stat stat;
};

#define KEEP_FILE_NONE	(struct keep_file){ .fd = -1 }

static void
keep_file_clear(struct keep_file *file)
{
	if (file->fd >= 0)
		(void)close(file->fd);
	*file = KEEP_FILE_NONE;
}

/* Of what is behind the header.  0 or a negative errno. */
static int
hash_of(int fd, off_t at, struct feed_hash *hash)
{
	struct XXH3_state_s *state = feed_file_hash_begin();
	char window[WINDOW];
	ssize_t n;

	if (state == NULL)
		return -ENOMEM;
	while ((n = pread(fd, window, sizeof(window), at)) > 0 ||
	    (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		feed_file_hash_add(state, window, (size_t)n);
		at += n;
	}
	n = n < 0 ? -errno : 0;
	*hash = feed_file_hash_end(state);
	return (int)n;
}

/*
 * Opens "name" in the directory: a sound regular file, no link.  0; -ENOENT; -EPROTO
 * and *why; or another negative errno.  With an error there is no file.
 */
static int
keep_file_read(struct keep_file *file, int directory, const char *name,
    const char **why)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY);
	struct feed_hash hash;
	int error;

	*file = (struct keep_file){ .fd = fd };
	*why = "it is not a regular file";
	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? -EPROTO : -errno;
	error = fstat(fd, &file->stat) < 0 ? -errno :
	    feed_file_peek(&file->header, fd, why);
	if (error >= 0)
		error = hash_of(fd, error, &hash);
	if (error == 0 && !feed_file_hash_equal(hash, file->header.hash)) {
		*why = "its hash is another one: it was damaged";
		error = -EPROTO;
	}
	if (error < 0)
		keep_file_clear(file);
	return error;
}

/* Whether "name" is still the very file that was read. */
static bool
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

/*
 * Makes "name" a file of that header and table, by rename, and on the disk before
 * this returns.  0 and *file, which is open; or a negative errno, and "name" is what
 * it was.
 */
static int
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

#define FILE_NAME_SIZE	(FEED_FILE_NAME_MAX + 16)

struct feed_keep {
	char *path;			/* state_dir */
	int directory;			/* it, as it was found there */
	char name[FEED_FILE_NAME_MAX + 1];
	char table[FILE_NAME_SIZE];	/* of its file */
	struct keep_file file;		/* the one in use */
	bool failing;			/* the last one could not be kept */
	unsigned int untold;		/* kept since a line told of one */
	monotime_t told;		/* never: none was */
	struct feed_kept *shown;
};

/* Takes over the file: the table in use.  Shows it. */
static void
take_file(struct feed_keep *k, const struct keep_file *file)
{
	keep_file_clear(&k->file);
	k->file = *file;
	k->shown->names = file->header.names;
	k->shown->octets = file->header.length;
	(void)snprintf(k->shown->version, sizeof(k->shown->version), "%s",
	    file->header.version);
	/* Last: without a time there is no table. */
	k->shown->time = file->fd >= 0 ? file->header.time : 0;
}

static void
read_table(struct feed_keep *k)
{
	struct keep_file file;
	const char *why;
	int error = keep_file_read(&file, k->directory, k->table, &why);

	if (error < 0 && error != -ENOENT)
		log_warning("feed %s: the kept table %s is not used: %s: it "
		    "is replaced by the next one", k->name, k->table,
		    error == -EPROTO ? why : strerror(-error));
	take_file(k, &file);
}

/* A descriptor of a directory that this user may write, or a negative errno. */
static int
open_directory(const char *path)
{
	const bool made = mkdir(path, 0755) == 0;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;

	if (fd < 0)
		return -errno;
	/* nfdnsd reads there, whatever the umask of a unit is. */
	if (made)
		(void)fchmod(fd, 0755);
	if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) == 0)
		return fd;
	error = -errno;
	(void)close(fd);
	return error;
}

int
feed_keep_open(struct feed_keep **keep, const char *state_dir,
    const char *name, struct feed_kept *shown)
{
	struct feed_keep *k = calloc(1, sizeof(*k));
	int error;

	*keep = NULL;
	if (k == NULL)
		return -ENOMEM;
	k->path = strdup(state_dir);
	k->directory = k->path != NULL ? open_directory(k->path) : -ENOMEM;
	if (k->directory < 0) {
		error = k->directory;
		free(k->path);
		free(k);
		return error;
	}
	k->shown = shown;
	k->file = KEEP_FILE_NONE;
	memset(shown, 0, sizeof(*shown));
	(void)snprintf(k->name, sizeof(k->name), "%s", name);
	(void)snprintf(k->table, sizeof(k->table), "%s" FEED_FILE_TABLE, name);
	read_table(k);
	*keep = k;
	return 0;
}

/* What was kept and is not told yet. */
static void
tell(struct feed_keep *k, monotime_t tick)
{
	char tables[64] = "table";

	if (k->untold > 1)
		(void)snprintf(tables, sizeof(tables), "%u tables in the last "
		    "minute, the last one", k->untold);
	log_info("feed %s: %s of %llu names", k->name, tables,
	    (unsigned long long)k->file.header.names);
	k->untold = 0;
	k->told = tick;
}

void
feed_keep_tell(struct feed_keep *k, monotime_t tick)
{
	if (k->untold > 0 && (!monotime_is_set(k->told) ||
	    monotime_ms_since(tick, k->told) >= KEEP_TELL_MS))
		tell(k, tick);
}

void
feed_keep_close(struct feed_keep *k)
{
	if (k == NULL)
		return;
	if (k->untold > 0)
		tell(k, MONOTIME_NEVER);
	keep_file_clear(&k->file);
	(void)close(k->directory);
	free(k->path);
	free(k);
}

/* Says once that nothing can be kept, and once that it can be again. */
static enum feed_verdict
fail(struct feed_keep *k, int error, char why[static FEED_TEXT])
{
	(void)snprintf(why, FEED_TEXT, "a table cannot be kept in state_dir: "
	    "%s", strerror(-error));
	(void)snprintf(k->shown->error, sizeof(k->shown->error), "%s", why);
	if (!k->failing)
		log_error("feed %s: %s: the one before stays in use, this one "
		    "is tried again", k->name, why);
	k->failing = true;
	return FEED_FAILED;
}

static void
succeed(struct feed_keep *k)
{
	if (k->failing)
		log_notice("feed %s: tables can be kept again", k->name);
	k->failing = false;
	k->shown->error[0] = '\0';
}

static bool
is_in_use(const struct feed_keep *k, const struct feed_table *table,
    struct feed_hash hash)
{
	return k->file.fd >= 0 &&
	    strcmp(k->file.header.format, table->format) == 0 &&
	    feed_file_hash_equal(k->file.header.hash, hash);
}

enum feed_verdict
feed_keep_offer(struct feed_keep *k, const struct feed_table *table,
    const char *source, int64_t now, monotime_t tick,
    char why[static FEED_TEXT])
{
	struct feed_header header = { .time = now, .length = table->length,
		.names = table->names };
	struct XXH3_state_s *state = feed_file_hash_begin();
	struct keep_file file;
	int error;

	why[0] = '\0';
	if (state == NULL)
		return fail(k, -ENOMEM, why);
	for (size_t i = 0; i < table->part_count; i++)
		feed_file_hash_add(state, table->parts[i].iov_base,
		    table->parts[i].iov_len);
	header.hash = feed_file_hash_end(state);
	/* Somebody may have removed it. */
	if (!keep_file_is_current(&k->file, k->directory, k->table))
		read_table(k);
	if (is_in_use(k, table, header.hash)) {
		succeed(k);
		return FEED_SAME;
	}
	(void)snprintf(header.format, sizeof(header.format), "%s",
	    table->format);
	(void)snprintf(header.version, sizeof(header.version), "%s",
	    table->version);
	(void)snprintf(header.source, sizeof(header.source), "%s", source);
	error = keep_file_write(&file, k->directory, k->table, &header, table);
	if (error < 0)
		return fail(k, error, why);
	succeed(k);
	take_file(k, &file);
	k->untold++;
	feed_keep_tell(k, tick);
	return FEED_APPLIED;
}

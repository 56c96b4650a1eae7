/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/feed/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/feed/table_names.h"
#include "policy/log.h"
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
read_kept_table(struct keep_file *file, struct table_names *names, const char **why)
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
		error = read_kept_table(file, names, why);
	if (error < 0) {
		table_names_free(names);
		keep_file_clear(file);
	}
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

void
keep_file_clear(struct keep_file *file)
{
	if (file->fd >= 0)
		(void)close(file->fd);
	*file = KEEP_FILE_NONE;
}

#define FILE_NAME_SIZE	(FEED_FILE_NAME_MAX + 16)

/* Tables that were kept since a line told of one. */
struct untold {
	unsigned int tables;
	struct table_delta delta;	/* the sum */
	monotime_t told;		/* never: none was */
};

struct feed_keep {
	char *path;			/* state_dir */
	int directory;			/* it, as it was found there */
	char name[FEED_FILE_NAME_MAX + 1];
	char table[FILE_NAME_SIZE];	/* of its file */
	struct keep_file file;		/* the one in use */
	struct table_names names;	/* of it */
	size_t most_names;
	bool failing;			/* the last one could not be kept */
	struct untold untold;
	struct feed_kept *shown;
};

/* Takes over the file and its names: the table in use.  Shows it. */
static void
take_file(struct feed_keep *k, const struct keep_file *file,
    const struct table_names *names)
{
	table_names_free(&k->names);
	keep_file_clear(&k->file);
	k->file = *file;
	k->names = *names;
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
	struct table_names names;
	struct keep_file file;
	const char *why;
	int error = keep_file_read(&file, k->directory, k->table, &names, &why);

	if (error < 0 && error != -ENOENT)
		log_warning("feed %s: the kept table %s is not used: %s: it "
		    "is replaced by the next one", k->name, k->table,
		    error == -EPROTO ? why : strerror(-error));
	take_file(k, &file, &names);
}

/* Somebody may have removed it. */
static void
look_again(struct feed_keep *k)
{
	if (!keep_file_is_current(&k->file, k->directory, k->table))
		read_table(k);
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
    const char *name, size_t most_names, struct feed_kept *shown)
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
	k->most_names = most_names;
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
	const struct untold *u = &k->untold;
	char tables[64] = "table";

	if (u->tables > 1)
		(void)snprintf(tables, sizeof(tables), "%u tables in the last "
		    "minute, the last one", u->tables);
	log_info("feed %s: %s of %llu names: %zu added, %zu removed, %zu "
	    "changed", k->name, tables,
	    (unsigned long long)k->file.header.names, u->delta.added,
	    u->delta.removed, u->delta.changed);
	k->untold = (struct untold){ .told = tick };
}

static bool
may_tell(const struct feed_keep *k, monotime_t tick)
{
	return !monotime_is_set(k->untold.told) ||
	    monotime_ms_since(tick, k->untold.told) >= KEEP_TELL_MS;
}

void
feed_keep_tell(struct feed_keep *k, monotime_t tick)
{
	if (k->untold.tables > 0 && may_tell(k, tick))
		tell(k, tick);
}

void
feed_keep_close(struct feed_keep *k)
{
	if (k == NULL)
		return;
	if (k->untold.tables > 0)
		tell(k, MONOTIME_NEVER);
	table_names_free(&k->names);
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

/* The file is the one in use, and these are its names. */
static void
note(struct feed_keep *k, const struct table_delta *delta, size_t faulty,
    monotime_t tick)
{
	struct table_delta *all = &k->untold.delta;

	k->shown->added = delta->added;
	k->shown->removed = delta->removed;
	k->shown->changed = delta->changed;
	k->untold.tables++;
	all->added += delta->added;
	all->removed += delta->removed;
	all->changed += delta->changed;
	feed_keep_tell(k, tick);
	if (faulty > 0)
		log_warning("feed %s: %zu entries of the table cannot be used "
		    "and are ignored", k->name, faulty);
}

/* A sound table that differs from the one in use. */
static enum feed_verdict
keep_table(struct feed_keep *k, struct feed_header *header,
    const struct feed_table *table, struct table_names *names,
    monotime_t tick, char why[static FEED_TEXT])
{
	struct table_delta delta;
	struct keep_file file;
	int error;

	table_names_compare(&k->names, names, &delta);
	error = keep_file_write(&file, k->directory, k->table, header, table);
	if (error < 0)
		return fail(k, error, why);
	succeed(k);
	take_file(k, &file, names);
	note(k, &delta, names->faulty, tick);
	memset(names, 0, sizeof(*names));
	return FEED_APPLIED;
}

bool
feed_keep_is_sound(const struct feed_keep *k, const struct feed_table *table,
    char why[static FEED_TEXT])
{
	return table_names_read(NULL, table->format, table->parts,
	    table->part_count, k->most_names, why, FEED_TEXT) != -EBADMSG;
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
	struct feed_header header = { .time = now, .length = table->length };
	struct XXH3_state_s *state = feed_file_hash_begin();
	struct table_names names;
	enum feed_verdict verdict;
	int error;

	why[0] = '\0';
	if (state == NULL)
		return fail(k, -ENOMEM, why);
	for (size_t i = 0; i < table->part_count; i++)
		feed_file_hash_add(state, table->parts[i].iov_base,
		    table->parts[i].iov_len);
	header.hash = feed_file_hash_end(state);
	look_again(k);
	if (is_in_use(k, table, header.hash)) {
		succeed(k);
		return FEED_SAME;
	}
	error = table_names_read(&names, table->format, table->parts,
	    table->part_count, k->most_names, why, FEED_TEXT);
	if (error == -EBADMSG)
		return FEED_REFUSED;
	if (error < 0)
		return fail(k, error, why);
	(void)snprintf(header.format, sizeof(header.format), "%s",
	    table->format);
	(void)snprintf(header.version, sizeof(header.version), "%s",
	    table->version);
	(void)snprintf(header.source, sizeof(header.source), "%s", source);
	header.names = names.count;
	verdict = keep_table(k, &header, table, &names, tick, why);
	table_names_free(&names);
	return verdict;
}

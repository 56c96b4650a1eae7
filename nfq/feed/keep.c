/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/feed/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/feed/table_names.h"
#include "policy/log.h"

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

static struct feed_hash
hash_of(const struct feed_table *table, struct XXH3_state_s *state)
{
	for (size_t i = 0; i < table->part_count; i++)
		feed_file_hash_add(state, table->parts[i].iov_base,
		    table->parts[i].iov_len);
	return feed_file_hash_end(state);
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
	header.hash = hash_of(table, state);
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

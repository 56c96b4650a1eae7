/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/supervisor/watch.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

/* More than a directory source may have (source_directory.c). */
#define MAX_FILES	1024
#define EVENTS		(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | \
			    IN_ONLYDIR)

/* Tells whether a file was replaced or changed.  Hashed, so padding is zero. */
struct stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
	uint64_t files;			/* of a directory: a hash of its files */
};

struct watched {
	char *path;
	char *directory;		/* that it is in */
	unsigned int what;
	bool beside;
	struct stamp stamp;
};

struct watch {
	int inotify;			/* -1: feeds are looked at as all others */
	struct watched *files;
	size_t count;
	monotime_t next;		/* look */
	unsigned int changed;		/* and not yet reported */
	monotime_t since;		/* the first of these changes */
};

static struct stamp
stamp_of_stat(const struct stat *st)
{
	struct stamp stamp;

	memset(&stamp, 0, sizeof(stamp));
	stamp.device = st->st_dev;
	stamp.inode = st->st_ino;
	/* A directory's own times change with hidden files, too. */
	if (S_ISDIR(st->st_mode))
		return stamp;
	stamp.size = st->st_size;
	stamp.modified = st->st_mtim;
	stamp.changed = st->st_ctim;
	return stamp;
}

/* In any order; of very many files only some.  Hidden ones do not count. */
static uint64_t
hash_files(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	uint64_t hash = 0;
	unsigned int count = 0;

	while (directory != NULL && count < MAX_FILES &&
	    (entry = readdir(directory)) != NULL) {
		struct stamp stamp;
		struct stat st;

		if (entry->d_name[0] == '.')
			continue;
		count++;
		if (fstatat(dirfd(directory), entry->d_name, &st, 0) != 0)
			continue;
		stamp = stamp_of_stat(&st);
		hash += XXH3_64bits_withSeed(&stamp, sizeof(stamp),
		    XXH3_64bits(entry->d_name, strlen(entry->d_name)));
	}
	if (directory != NULL)
		(void)closedir(directory);
	return hash + count;
}

/* All zero if there is no file. */
static struct stamp
stamp_of(const struct watched *file)
{
	struct stat st = { .st_mode = 0 };
	struct stamp stamp;
	const bool there = stat(file->path, &st) == 0;

	stamp = stamp_of_stat(&st);
	if (there && S_ISDIR(st.st_mode))
		stamp.files = hash_files(file->path);
	if (file->beside)
		stamp.files += hash_files(file->directory);
	return stamp;
}

/* Whether it is another than before. */
static bool
has_changed(struct watched *file)
{
	const struct stamp now = stamp_of(file);
	const bool changed = memcmp(&now, &file->stamp, sizeof(now)) != 0;

	file->stamp = now;
	return changed;
}

struct watch *
watch_open(void)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (w != NULL)
		w->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	return w;
}

void
watch_close(struct watch *w)
{
	if (w == NULL)
		return;
	for (size_t i = 0; i < w->count; i++) {
		free(w->files[i].path);
		free(w->files[i].directory);
	}
	free(w->files);
	if (w->inotify >= 0)
		(void)close(w->inotify);
	free(w);
}

/* The part before the last '/'. */
static char *
directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? strdup(".") : slash == path ? strdup("/") :
	    strndup(path, (size_t)(slash - path));
}

/* The directory may not be there yet, or be another one now. */
static void
listen_to(const struct watch *w, const struct watched *file)
{
	if ((file->what & WATCH_FEEDS) != 0)
		(void)inotify_add_watch(w->inotify, file->directory, EVENTS);
}

int
watch_add(struct watch *w, const char *path, unsigned int what, bool beside)
{
	struct watched *files = reallocarray(w->files, w->count + 1,
	    sizeof(*files));
	struct watched *file;

	if (files == NULL)
		return -ENOMEM;
	w->files = files;
	file = &files[w->count++];
	*file = (struct watched){ .path = strdup(path), .what = what,
		.directory = directory_of(path), .beside = beside };
	if (file->path == NULL || file->directory == NULL)
		return -ENOMEM;
	/* First, so that no change between the two is missed. */
	listen_to(w, file);
	file->stamp = stamp_of(file);
	return 0;
}

int
watch_fd(const struct watch *w)
{
	return w->inotify;
}

static unsigned int
look_at_feeds(struct watch *w)
{
	unsigned int changed = 0;

	for (size_t i = 0; i < w->count; i++)
		if ((w->files[i].what & WATCH_FEEDS) != 0 &&
		    has_changed(&w->files[i]))
			changed |= WATCH_FEEDS;
	return changed;
}

unsigned int
watch_feeds(struct watch *w)
{
	_Alignas(struct inotify_event) char ignored[16384];

	/* Once: who owns the directory may make events without end. */
	(void)!read(w->inotify, ignored, sizeof(ignored));
	return look_at_feeds(w);
}

unsigned int
watch_look(struct watch *w, monotime_t now)
{
	unsigned int changed, fresh = 0;

	if (!monotime_is_past(now, w->next))
		return 0;
	w->next = monotime_add_ms(now, WATCH_LOOK_MS);
	for (size_t i = 0; i < w->count; i++) {
		listen_to(w, &w->files[i]);
		if ((w->files[i].what & WATCH_FEEDS) == 0 &&
		    has_changed(&w->files[i]))
			fresh |= w->files[i].what;
	}
	if (w->changed == 0)
		w->since = now;
	w->changed |= fresh;
	changed = look_at_feeds(w);
	if (fresh == 0 ||
	    monotime_ms_since(now, w->since) >= WATCH_LATEST_MS) {
		changed |= w->changed;
		w->changed = 0;
	}
	return changed;
}

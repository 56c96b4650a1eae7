/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches the directory of each file, since files are replaced; for a symbolic
 * link also the directories that it leads through; and the file itself, which
 * may be mounted there.  An event only says that it is time to look: stat(2)
 * tells whether the file is another one or has changed.  So the exchange of a
 * link to a directory (as "..data" in mounted volumes) is seen like any other
 * change.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <xxhash.h>

#include "nfq/supervisor/watch.h"

/* Identity and state of a file, to tell whether it was replaced or changed. */

/* Compared and hashed as octets, so padding is zero. */
struct file_stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
	uint64_t files;			/* of a directory: a hash of its files */
};

/* More than a directory source may have (source_directory.h). */
#define MAX_FILES	1024

/* Of a file that fstat(2) has told of, and which is no directory. */
static struct file_stamp
file_stamp_of_stat(const struct stat *st)
{
	struct file_stamp stamp;

	memset(&stamp, 0, sizeof(stamp));
	stamp.device = st->st_dev;
	stamp.inode = st->st_ino;
	stamp.size = st->st_size;
	stamp.modified = st->st_mtim;
	stamp.changed = st->st_ctim;
	return stamp;
}

/* 0 for a dangling link. */
static uint64_t
hash_file(DIR *directory, const char *name)
{
	struct file_stamp stamp;
	struct stat st;

	if (fstatat(dirfd(directory), name, &st, 0) != 0)
		return 0;
	stamp = file_stamp_of_stat(&st);
	return XXH3_64bits_withSeed(&stamp, sizeof(stamp),
	    XXH3_64bits(name, strlen(name)));
}

/* Independent of the order in which readdir(3) returns them. */
static uint64_t
hash_files(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	uint64_t hash = 0;
	unsigned int count = 0;

	if (directory == NULL)
		return 0;
	while (count < MAX_FILES && (entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		hash += hash_file(directory, entry->d_name);
		count++;
	}
	(void)closedir(directory);
	return hash + count;
}

/*
 * Follows symbolic links.  All zero if there is no file.  The stamp of a
 * directory is that of its files; names that begin with '.' are ignored, and of
 * very many files only some are read.
 */
static struct file_stamp
file_stamp_of(const char *path)
{
	struct file_stamp stamp;
	struct stat st;

	memset(&stamp, 0, sizeof(stamp));
	if (stat(path, &st) != 0)
		return stamp;
	if (!S_ISDIR(st.st_mode))
		return file_stamp_of_stat(&st);
	/* Without the directory's times: hidden files change them, too. */
	stamp.device = st.st_dev;
	stamp.inode = st.st_ino;
	stamp.files = hash_files(path);
	return stamp;
}

static bool
file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Interval of looks for a directory that does not exist. */
#define RETRY_MS	1000
/* The same for all: of what is mounted over a directory there is no event. */
#define LOOK_MS		4000

/* The kernel's limit: MAXSYMLINKS in include/linux/namei.h. */
#define MAX_LINKS	40
/* Files that are open for writing. */
#define MAX_WRITTEN	64

#define EVENTS (IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | \
	IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | \
	IN_MOVE_SELF | IN_ONLYDIR)
#define FILE_EVENTS (IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE)

struct watched {
	char *path;
	unsigned int what;
	bool beside;
	struct file_stamp stamp;
	int directory;			/* watch descriptor of its own one */
	int inside;			/* of itself, if it is a directory */
};

/* A file that was written to and is not closed yet. */
struct written {
	int directory;
	char name[NAME_MAX + 1];
};

struct watch {
	int epoll, inotify, timer;
	struct watched *files;
	size_t file_count;
	unsigned int changed;		/* and not yet reported */
	monotime_t since;		/* time of the first of these changes */
	bool stirred;			/* the last events changed a file: wait again */
	bool at_once;			/* a WATCH_FEEDS has changed */
	bool armed;			/* the timer */
	bool lost;			/* a directory does not exist: try again */
	monotime_t looked;
	struct written written[MAX_WRITTEN];
	size_t written_count;
};

/* The directory part of path; resolves no link. */
static void
directory_of(const char *path, char directory[static PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	size_t length = slash != NULL ? (size_t)(slash - path) : 0;

	if (slash == NULL)
		(void)snprintf(directory, PATH_MAX, ".");
	else
		(void)snprintf(directory, PATH_MAX, "%.*s",
		    (int)(length > 0 ? length : 1), path);
}

/* Replaces path by the target of its link; false if it is no link. */
static bool
follow_link(char path[static PATH_MAX])
{
	char target[PATH_MAX], directory[PATH_MAX], next[2 * PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target) - 1);

	if (length <= 0)
		return false;
	target[length] = '\0';
	directory_of(path, directory);
	(void)snprintf(next, sizeof(next), "%s%s%s",
	    target[0] == '/' ? "" : directory, target[0] == '/' ? "" : "/",
	    target);
	if (strlen(next) >= PATH_MAX)
		return false;
	memcpy(path, next, strlen(next) + 1);
	return true;
}

/*
 * Watches the directory of path, and those that its links lead to; *first is
 * the watch descriptor of the first.  0 or a negative errno.
 */
static int
watch_way(const struct watch *w, const char *path, int *first)
{
	char at[PATH_MAX], directory[PATH_MAX];
	int error = 0;

	(void)snprintf(at, sizeof(at), "%s", path);
	for (int i = 0; i < MAX_LINKS; i++) {
		int wd;

		directory_of(at, directory);
		wd = inotify_add_watch(w->inotify, directory, EVENTS);
		if (wd < 0 && error == 0)
			error = -errno;
		if (i == 0)
			*first = wd;
		if (!follow_link(at))
			break;
	}
	return error;
}

/* Watches the directories that the links in a directory lead to. */
static void
watch_links(const struct watch *w, const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;

	if (directory == NULL)
		return;
	while ((entry = readdir(directory)) != NULL) {
		char link[PATH_MAX + sizeof(entry->d_name)];
		int ignored;

		if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
			continue;
		(void)snprintf(link, sizeof(link), "%s/%s", path,
		    entry->d_name);
		if (strlen(link) < PATH_MAX)
			(void)watch_way(w, link, &ignored);
	}
	(void)closedir(directory);
}

/* Watches everything in which a change of the file can show. */
static int
watch_file(const struct watch *w, struct watched *file)
{
	int error = watch_way(w, file->path, &file->directory);

	file->inside = inotify_add_watch(w->inotify, file->path, EVENTS);
	if (file->inside >= 0)
		watch_links(w, file->path);
	else
		(void)inotify_add_watch(w->inotify, file->path, FILE_EVENTS);
	return error;
}

static int
add_to_epoll(const struct watch *w, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int
watch_open(struct watch **watch)
{
	struct watch *w = calloc(1, sizeof(*w));
	int error;

	*watch = NULL;
	if (w == NULL)
		return -ENOMEM;
	w->inotify = w->timer = -1;
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll >= 0)
		w->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->inotify >= 0)
		w->timer = timerfd_create(CLOCK_MONOTONIC,
		    TFD_CLOEXEC | TFD_NONBLOCK);
	error = w->timer < 0 ? -errno : add_to_epoll(w, w->inotify);
	if (error == 0)
		error = add_to_epoll(w, w->timer);
	if (error != 0) {
		watch_close(w);
		return error;
	}
	*watch = w;
	return 0;
}

void
watch_close(struct watch *w)
{
	if (w == NULL)
		return;
	for (size_t i = 0; i < w->file_count; i++)
		free(w->files[i].path);
	free(w->files);
	if (w->timer >= 0)
		(void)close(w->timer);
	if (w->inotify >= 0)
		(void)close(w->inotify);
	if (w->epoll >= 0)
		(void)close(w->epoll);
	free(w);
}

int
watch_fd(const struct watch *w)
{
	return w->epoll;
}

static void
arm(struct watch *w, long ms)
{
	const struct itimerspec wait = { .it_value = { .tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000 } };

	w->armed = timerfd_settime(w->timer, 0, &wait, NULL) == 0;
}

/* A copy without trailing slashes, which would hide a link. */
static char *
copy_path(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return strndup(path, length);
}

int
watch_add(struct watch *w, const char *path, unsigned int what, bool beside)
{
	struct watched *files = reallocarray(w->files, w->file_count + 1,
	    sizeof(*files));
	struct watched *file;
	int error;

	if (files == NULL)
		return -ENOMEM;
	w->files = files;
	file = &files[w->file_count];
	*file = (struct watched){ .path = copy_path(path), .what = what,
		.beside = beside };
	if (file->path == NULL)
		return -ENOMEM;
	w->file_count++;
	error = watch_file(w, file);
	file->stamp = file_stamp_of(file->path);
	w->lost |= error != 0;
	arm(w, w->lost ? RETRY_MS : LOOK_MS);
	return error;
}

/* The name in the event; "" if it is about the watched file itself. */
static const char *
name_of(const struct inotify_event *event)
{
	return event->len > 0 ? event->name : "";
}

/* The index of the event's file in w->written, or written_count. */
static size_t
find_written(const struct watch *w, const struct inotify_event *event)
{
	size_t i = 0;

	while (i < w->written_count &&
	    (w->written[i].directory != event->wd ||
	    strcmp(w->written[i].name, name_of(event)) != 0))
		i++;
	return i;
}

/*
 * Notes which files are being written.  A file that creat(2) made is still to
 * be written; a link is complete at once.
 */
static void
note_writing(struct watch *w, const struct inotify_event *event)
{
	size_t i = find_written(w, event);

	if (event->mask & (IN_MODIFY | IN_CREATE)) {
		if (i < w->written_count || i == MAX_WRITTEN)
			return;
		w->written[i].directory = event->wd;
		(void)snprintf(w->written[i].name, sizeof(w->written[i].name),
		    "%s", name_of(event));
		w->written_count++;
	} else if (event->mask & (IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM |
	    IN_MOVED_TO) && i < w->written_count) {
		w->written[i] = w->written[--w->written_count];
	}
}

/* Whether name is the last part of path. */
static bool
is_named(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash != NULL ? slash + 1 : path, name) == 0;
}

/* Whether the event is about a watched file, so that its writer matters. */
static bool
is_ours(const struct watch *w, const struct inotify_event *event)
{
	char path[PATH_MAX];

	if (event->len == 0)
		return true;
	for (size_t i = 0; i < w->file_count; i++) {
		const struct watched *file = &w->files[i];

		if (file->beside && file->directory == event->wd)
			return true;
		if (file->inside == event->wd && event->name[0] != '.')
			return true;
		(void)snprintf(path, sizeof(path), "%s", file->path);
		for (int n = 0; n < MAX_LINKS; n++) {
			if (is_named(path, event->name))
				return true;
			if (!follow_link(path))
				break;
		}
	}
	return false;
}

/* False for a symbolic link and a hard link: they are complete at once. */
static bool
has_writer(const struct watch *w, const struct inotify_event *event)
{
	for (size_t i = 0; i < w->file_count; i++) {
		char path[2 * PATH_MAX], directory[PATH_MAX];
		const struct watched *file = &w->files[i];
		struct stat st;

		if (file->directory == event->wd)
			directory_of(file->path, directory);
		else if (file->inside == event->wd)
			(void)snprintf(directory, PATH_MAX, "%s", file->path);
		else
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", directory,
		    event->name);
		return lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    st.st_nlink == 1;
	}
	return false;
}

/* After lost events, does not wait for files that were being written. */
static void
forget_written(struct watch *w, const struct inotify_event *event)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->written_count; i++) {
		if ((event->mask & IN_Q_OVERFLOW) == 0 &&
		    w->written[i].directory != event->wd)
			w->written[kept++] = w->written[i];
	}
	w->written_count = kept;
}

static void
take_event(struct watch *w, const struct inotify_event *event)
{
	if (event->mask & (IN_Q_OVERFLOW | IN_IGNORED)) {
		forget_written(w, event);
		return;
	}
	if (event->mask & IN_ISDIR || !is_ours(w, event))
		return;
	w->stirred = true;
	for (size_t i = 0; i < w->file_count; i++) {
		if (w->files[i].beside && w->files[i].directory == event->wd)
			w->changed |= w->files[i].what;
	}
	if ((event->mask & IN_CREATE) == 0 || has_writer(w, event))
		note_writing(w, event);
}

/* Finds the files that changed; watches again, as links may have, too. */
static void
compare(struct watch *w)
{
	w->lost = false;
	for (size_t i = 0; i < w->file_count; i++) {
		struct watched *file = &w->files[i];
		struct file_stamp now;

		/* First, so that no change between the two is missed. */
		w->lost |= watch_file(w, file) != 0;
		now = file_stamp_of(file->path);
		if (file_stamp_equal(&now, &file->stamp))
			continue;
		if (file->what & WATCH_FEEDS) {
			w->at_once = true;
		} else {
			w->changed |= file->what;
			w->stirred = true;
		}
		file->stamp = now;
	}
}

/* Returns whether there were events. */
static bool
read_events(struct watch *w)
{
	_Alignas(struct inotify_event) char buffer[16384];
	bool any = false;
	ssize_t n;

	while ((n = read(w->inotify, buffer, sizeof(buffer))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event =
			    (const void *)(buffer + at);

			take_event(w, event);
			at += (ssize_t)(sizeof(*event) + event->len);
		}
		any = true;
	}
	return any;
}

/*
 * Returns what has changed, if it is time to report it.  Each change restarts
 * the wait, and writers are waited for; but neither for longer than
 * WATCH_LATEST_MS, since some writers never close (truncate(2) has no
 * descriptor) and some replace a file all the time.
 */
static unsigned int
take_changed(struct watch *w, bool settled, monotime_t now)
{
	const int64_t left =
	    WATCH_LATEST_MS - monotime_ms_since(now, w->since);
	unsigned int changed = w->changed;

	if (left > 0 && w->stirred) {
		arm(w, left < WATCH_SETTLE_MS ? left : WATCH_SETTLE_MS);
		return 0;
	}
	if (left > 0 && (!settled || w->written_count > 0)) {
		if (settled)
			arm(w, left);
		return 0;
	}
	/* A file that is still being written causes another event. */
	w->written_count = 0;
	w->changed = 0;
	return changed;
}

unsigned int
watch_next(struct watch *w, monotime_t now)
{
	const bool nothing_before = w->changed == 0;
	unsigned int changed = 0;
	uint64_t expirations;
	bool expired = read(w->timer, &expirations, sizeof(expirations)) ==
	    (ssize_t)sizeof(expirations);

	w->armed &= !expired;
	w->stirred = false;
	if (read_events(w) || w->lost || !monotime_is_set(w->looked) ||
	    monotime_ms_since(now, w->looked) >= LOOK_MS) {
		compare(w);
		w->looked = now;
	}
	if (nothing_before)
		w->since = now;
	if (w->changed != 0)
		changed = take_changed(w, expired, now);
	if (!w->armed)
		arm(w, w->lost ? RETRY_MS : LOOK_MS);
	if (w->at_once)
		changed |= WATCH_FEEDS;
	w->at_once = false;
	return changed;
}

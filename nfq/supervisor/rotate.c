/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/supervisor/rotate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "policy/log.h"

#define STAMP		"%Y%m%d-%H%M%S"
#define STAMP_OCTETS	15U		/* of its text */
#define MEBI		((off_t)1 << 20)
#define NAMES_MAX	20000		/* of an entry; what is more waits */

bool
rotate_is_due(const struct config_audit *audit, int fd, int64_t now)
{
	struct statx st;

	if (audit->path == NULL || fd < 0 ||
	    (audit->max_size | audit->max_age) == 0 || statx(fd, "",
	    AT_EMPTY_PATH, STATX_SIZE | STATX_BTIME, &st) < 0 ||
	    st.stx_size == 0)
		return false;
	if (audit->max_size > 0 &&
	    (off_t)st.stx_size >= audit->max_size * MEBI)
		return true;
	/* Not every file system keeps the time of creation. */
	return audit->max_age > 0 && (st.stx_mask & STATX_BTIME) != 0 &&
	    now - st.stx_btime.tv_sec >= audit->max_age;
}

int
rotate_rename(const struct config_audit *audit, int64_t now, char *name,
    size_t size)
{
	const time_t seconds = (time_t)now;
	char stamp[STAMP_OCTETS + 1];
	struct tm tm;

	if (gmtime_r(&seconds, &tm) == NULL ||
	    strftime(stamp, sizeof(stamp), STAMP, &tm) != STAMP_OCTETS)
		return -EINVAL;
	for (int n = 0; n < 100; n++) {
		int length = n == 0 ?
		    snprintf(name, size, "%s.%s", audit->path, stamp) :
		    snprintf(name, size, "%s.%s.%d", audit->path, stamp, n);

		if (length < 0 || (size_t)length >= size)
			return -ENAMETOOLONG;
		if (renameat2(AT_FDCWD, audit->path, AT_FDCWD, name,
		    RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/*
 * Whether "name" is "base" with a stamp, a number perhaps, and an ending perhaps:
 * earlier versions compressed such files.
 */
static bool
is_closed_name(const char *name, const char *base)
{
	const size_t length = strlen(base);
	const char *at = name + length;

	if (strncmp(name, base, length) != 0 || *at++ != '.')
		return false;
	for (unsigned int i = 0; i < STAMP_OCTETS; i++, at++)
		if (i == 8 ? *at != '-' : *at < '0' || *at > '9')
			return false;
	if (at[0] == '.' && at[1] >= '0' && at[1] <= '9')
		at += 1 + strspn(at + 1, "0123456789");
	return *at == '\0' || strcmp(at, ".gz") == 0 ||
	    strcmp(at, ".zst") == 0;
}

/* The closed files of an entry, the oldest first. */
struct closed {
	char **names;			/* with their directory; owned */
	size_t count;
};

static void
free_closed(struct closed *closed)
{
	for (size_t i = 0; i < closed->count; i++)
		free(closed->names[i]);
	free(closed->names);
}

static int
compare_names(const void *left, const void *right)
{
	char *const *a = left, *const *b = right;

	return strcmp(*a, *b);
}

static void
add_name(struct closed *closed, const char *directory, int length,
    const char *name)
{
	char **grown = reallocarray(closed->names, closed->count + 1,
	    sizeof(*grown));

	if (grown == NULL)
		return;
	closed->names = grown;
	if (asprintf(&grown[closed->count], "%.*s/%s", length, directory,
	    name) >= 0)
		closed->count++;
}

static struct closed
find_closed(const struct config_audit *audit)
{
	const char *slash = strrchr(audit->path, '/');
	const int length = (int)(slash - audit->path);
	struct closed closed = { .names = NULL };
	char directory[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	(void)snprintf(directory, sizeof(directory), "%.*s", length,
	    audit->path);
	dir = opendir(length > 0 ? directory : "/");
	while (dir != NULL && closed.count < NAMES_MAX &&
	    (entry = readdir(dir)) != NULL)
		if (is_closed_name(entry->d_name, slash + 1))
			add_name(&closed, audit->path, length, entry->d_name);
	if (dir != NULL)
		(void)closedir(dir);
	if (closed.count > 0)
		qsort(closed.names, closed.count, sizeof(*closed.names),
		    compare_names);
	return closed;
}

void
rotate_remove_oldest(const struct config_audit *audit)
{
	struct closed closed;

	if (audit->path == NULL || audit->max_files == 0)
		return;
	closed = find_closed(audit);
	for (size_t i = 0; i + audit->max_files < closed.count; i++)
		if (unlink(closed.names[i]) < 0)
			log_warning("cannot remove %s: %s: its directory must "
			    "belong to nfdnsd's user", closed.names[i],
			    strerror(errno));
	free_closed(&closed);
}

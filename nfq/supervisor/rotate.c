/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/supervisor/rotate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "nfq/process/compress.h"
#include "policy/log.h"

#define STAMP		"%Y%m%d-%H%M%S"
#define STAMP_OCTETS	15U		/* of its text */
#define PARTLY		".part"	/* behind a dot and the name */
#define MEBI		((off_t)1 << 20)
#define NAMES_MAX	20000		/* of an entry; what is more waits */

/* By config_audit.compress. */
static const struct {
	const char *suffix;
	enum compress_format format;
} packings[] = {
	[COMPRESS_GZIP] = { ".gz", COMPRESS_TO_GZIP },
	[COMPRESS_ZSTD] = { ".zst", COMPRESS_TO_ZSTD },
};

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

static bool
is_packed(const char *end)
{
	return strcmp(end, packings[COMPRESS_GZIP].suffix) == 0 ||
	    strcmp(end, packings[COMPRESS_ZSTD].suffix) == 0;
}

/* What follows "base", a stamp and perhaps a number in the name; NULL: no such. */
static const char *
behind_stamp(const char *name, const char *base)
{
	const size_t length = strlen(base);
	const char *at = name + length;

	if (strncmp(name, base, length) != 0 || *at++ != '.')
		return NULL;
	for (unsigned int i = 0; i < STAMP_OCTETS; i++, at++)
		if (i == 8 ? *at != '-' : *at < '0' || *at > '9')
			return NULL;
	if (at[0] == '.' && at[1] >= '0' && at[1] <= '9')
		at += 1 + strspn(at + 1, "0123456789");
	return at;
}

/* Whether "name" is "base" with a stamp, a number perhaps, and ".gz" perhaps. */
static bool
is_closed_name(const char *name, const char *base)
{
	const char *rest = behind_stamp(name, base);

	return rest != NULL && (*rest == '\0' || is_packed(rest));
}

/* Whether it is a name of part_path(). */
static bool
is_part_name(const char *name, const char *base)
{
	const char *rest = *name == '.' ? behind_stamp(name + 1, base) : NULL;

	return rest != NULL && strcmp(rest, PARTLY) == 0;
}

/*
 * Where a file is compressed: in its directory, so that rename(2) ends it, and
 * under a name that no pattern such as "audit.json*" matches.
 */
static void
part_path(const char *name, char path[static PATH_MAX])
{
	const char *slash = strrchr(name, '/');

	(void)snprintf(path, PATH_MAX, "%.*s/.%s" PARTLY,
	    (int)(slash - name), name, slash + 1);
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

/* "packing": a process makes such a part; others were left by a crash. */
static struct closed
find_closed(const struct config_audit *audit, bool packing)
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
		else if (!packing && is_part_name(entry->d_name, slash + 1))
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir != NULL)
		(void)closedir(dir);
	if (closed.count > 0)
		qsort(closed.names, closed.count, sizeof(*closed.names),
		    compare_names);
	return closed;
}

static void
remove_oldest(const struct config_audit *audit, const struct closed *closed)
{
	for (size_t i = 0; audit->max_files > 0 &&
	    i + audit->max_files < closed->count; i++)
		if (unlink(closed->names[i]) < 0)
			log_warning("cannot remove %s: %s: its directory must "
			    "belong to nfdnsd's user", closed->names[i],
			    strerror(errno));
}

/* A lease for reading is given only if no process writes the file. */
static bool
is_written(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return errno == EAGAIN;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

/*
 * A closed file, or a negative errno.  Whoever may write in the directory may
 * put anything there: a FIFO would wait for its writer, and a second name of a
 * file would give it to readers of the log.
 */
static int
open_closed(const char *name)
{
	const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1)
		return fd;
	(void)close(fd);
	return -EINVAL;
}

/* A new file for what is compressed, or a negative errno. */
static int
open_part(const char *name)
{
	char path[PATH_MAX];
	int fd;

	part_path(name, path);
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	return fd < 0 ? -errno : fd;
}

/* False if the file has to wait, or cannot be compressed. */
static bool
pack(struct rotate_work *work, const struct config *config, uint32_t how,
    const char *name)
{
	int in = open_closed(name), out = -1;
	pid_t pid;

	if (in < 0)
		return false;		/* it is no log */
	if (is_written(in)) {
		(void)close(in);
		return false;
	}
	pid = out = open_part(name);
	if (out >= 0)
		pid = compress_start(packings[how].format, in, out,
		    config->uid, config->gid);
	if (pid > 0) {
		work->packer = pid;
		work->packed = strdup(name);
		work->suffix = packings[how].suffix;
	} else {
		work->failed = true;
		log_warning("cannot compress %s: %s", name, strerror(-pid));
	}
	(void)close(in);
	if (out >= 0)
		(void)close(out);
	return pid > 0;
}

/* Puts the compressed file in the place of the other. */
static void
take_packed(struct rotate_work *work, int status)
{
	char part[PATH_MAX], whole[PATH_MAX], how[CHILD_TEXT];
	const char *name = work->packed;

	if (name == NULL)
		return;
	part_path(name, part);
	(void)snprintf(whole, sizeof(whole), "%s%s", name, work->suffix);
	if (status == 0 && rename(part, whole) == 0) {
		(void)unlink(name);
		return;
	}
	work->failed = true;
	log_warning("cannot compress %s: %s: it stays as it is", name,
	    status != 0 ? child_end_text(status, how) : strerror(errno));
	(void)unlink(part);
}

/* Whether the process still runs. */
static bool
is_packing(struct rotate_work *work)
{
	int status = 0;

	if (work->packer == 0 || waitpid(work->packer, &status, WNOHANG) == 0)
		return work->packer != 0;
	take_packed(work, status);
	free(work->packed);
	work->packed = NULL;
	work->packer = 0;
	return false;
}

void
rotate_go_on(struct rotate_work *work, const struct config *config)
{
	bool packing = is_packing(work);

	for (size_t i = 0; i < config->audit_count; i++) {
		const struct config_audit *audit = &config->audits[i];
		struct closed closed;

		if (audit->path == NULL ||
		    (audit->max_files | audit->compress) == 0)
			continue;
		closed = find_closed(audit, packing);
		remove_oldest(audit, &closed);
		for (size_t n = 0; n < closed.count && !packing &&
		    !work->failed && audit->compress != COMPRESS_NONE; n++) {
			const char *name = closed.names[n];

			packing = !is_packed(strrchr(name, '.')) &&
			    access(name, F_OK) == 0 &&
			    pack(work, config, audit->compress, name);
		}
		free_closed(&closed);
	}
}

void
rotate_stop(struct rotate_work *work)
{
	int status;

	if (work->packer > 0) {
		(void)kill(work->packer, SIGKILL);
		(void)child_reap(work->packer, &status);
	}
	free(work->packed);
	work->packed = NULL;
	work->packer = 0;
}

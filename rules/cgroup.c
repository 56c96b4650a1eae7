/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "rules/cgroup.h"

/* Number of components; 0 for "/". */
static uint32_t
count_components(const char *path)
{
	uint32_t count = 0;

	for (const char *at = path; *at != '\0'; at++)
		if (*at != '/' && (at == path || at[-1] == '/'))
			count++;
	return count;
}

/* Undoes the \040 of mountinfo's fields, in place. */
static void
unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; to++) {
		if (from[0] == '\\' && from[1] != '\0' && from[2] != '\0' &&
		    from[3] != '\0') {
			*to = (char)((from[1] - '0') << 6 |
			    (from[2] - '0') << 3 | (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/*
 * Opens the mount of one line of mountinfo if it is a cgroup v2 one that can be
 * seen (another mount may lie on top of it).  *depth becomes the level of the
 * mount's root: that is not 0 where only a part of the tree is mounted.
 * Returns the fd or -1.
 */
static int
open_mount(const char *line, uint32_t *depth)
{
	char *root = NULL, *point = NULL;
	struct statfs filesystem;
	int fd = -1;

	if (strstr(line, " - cgroup2 ") == NULL ||
	    sscanf(line, "%*s %*s %*s %ms %ms", &root, &point) != 2)
		goto out;
	/* "/..": above this process's own cgroup namespace, so of no known level. */
	if (strncmp(root, "/..", 3) == 0)
		goto out;
	unescape(root);
	unescape(point);
	*depth = count_components(root);
	fd = open(point, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && (fstatfs(fd, &filesystem) != 0 ||
	    filesystem.f_type != CGROUP2_SUPER_MAGIC)) {
		close(fd);
		fd = -1;
	}
out:
	free(root);
	free(point);
	return fd;
}

/* The mount nearest to the root of the tree.  The fd, or -1. */
static int
open_root(uint32_t *depth)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;
	int best = -1;

	if (mounts == NULL)
		return -1;
	while (getline(&line, &size, mounts) > 0) {
		uint32_t here = 0;
		int fd = open_mount(line, &here);

		if (fd < 0)
			continue;
		if (best >= 0 && here >= *depth) {
			close(fd);
			continue;
		}
		if (best >= 0)
			close(best);
		best = fd;
		*depth = here;
	}
	free(line);
	fclose(mounts);
	return best;
}

static int
find_below(int root, const char *path, uint64_t *id)
{
	int fd = openat(root, path,
	    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0)
		*id = status.st_ino;
	else
		rc = -errno;
	close(fd);
	return rc;
}

/*
 * The kernel compares the id of the socket's ancestor at that level, counted
 * from the root of the cgroup namespace (before Linux 6.12: of the machine),
 * with the id, which is the inode number (kernfs_node.id).
 */
int
cgroup_find(const char *path, struct cgroup_position *position, const char **why)
{
	uint32_t depth = 0;
	int root, rc;

	*why = NULL;
	root = open_root(&depth);
	if (root < 0) {
		*why = "cannot be looked up: cgroup v2 is not mounted here";
		return -ENODEV;
	}
	rc = find_below(root, path, &position->id);
	close(root);
	if (rc == -ENOENT)
		*why = "does not exist: not bypassed until it does";
	else if (rc == -ENOTDIR)
		*why = "is a file, not a cgroup";
	else if (rc != 0)
		*why = strerror(-rc);
	position->level = depth + count_components(path);
	return rc;
}

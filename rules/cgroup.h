/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cgroup v2 path as the kernel's socket expression wants it. */
#ifndef NFDNS_RULES_CGROUP_H
#define NFDNS_RULES_CGROUP_H

#include <stdint.h>

struct cgroup_position {
	uint64_t id;		/* the inode number of its directory */
	uint32_t level;		/* 1: right below the root */
};

/*
 * Looks path ("system.slice/backup.service") up below the place where cgroup
 * v2 is mounted, wherever that is.  Returns 0, or a negative errno and *why in
 * words.
 */
int cgroup_find(const char *path, struct cgroup_position *position,
    const char **why) __attribute__((warn_unused_result));

#endif

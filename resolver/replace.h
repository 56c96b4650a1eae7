/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaces a file at one go: whoever opens it gets the old one or the new one,
 * never a part.  The new one is written as PATH.new and then renamed.
 */
#ifndef NFDNS_RESOLVER_REPLACE_H
#define NFDNS_RESOLVER_REPLACE_H

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

enum replace_how {
	REPLACE_QUICKLY,	/* a crash of the machine may leave either or none */
	REPLACE_DURABLY,	/* on the disk before replace_end() returns */
};

/* One file on its way; between replace_begin() and replace_end(). */
struct replace {
	int fd;				/* for reading and writing */
	FILE *stream;			/* replace_stream()'s, or NULL */
	int directory;			/* borrowed, or AT_FDCWD */
	const char *path;		/* borrowed; relative to it */
	char fresh[PATH_MAX];
};

/*
 * Creates PATH.new, empty; "directory" as for openat(2).  It has that mode whatever
 * the umask is, which a unit of systemd has without knowing this file: who else reads
 * it is for its writer to say.  It removes what has that name, be it a link or what a
 * writer left that was killed, and follows no link.  0 or a negative errno; then
 * there is nothing to end.
 */
int replace_begin(struct replace *r, int directory, const char *path,
    mode_t mode) __attribute__((warn_unused_result));

/* A stream over fd, which replace_end() closes; NULL and errno. */
FILE *replace_stream(struct replace *r) __attribute__((warn_unused_result));

/*
 * If "error" is 0, makes the file whole and renames it; if it is a negative errno,
 * or if that fails, removes PATH.new and leaves PATH as it was.  Returns the first
 * error, or 0.
 */
int replace_end(struct replace *r, enum replace_how how, int error)
    __attribute__((warn_unused_result));

#endif

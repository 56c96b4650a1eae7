/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are written whole or not at all: under another name in the same
 * directory, synchronised with the disk, renamed.  Whenever the writer is
 * killed, a file is as before or as it is to be.
 */
#ifndef NFDNS_NFQ_CLI_JOIN_PLACE_H
#define NFDNS_NFQ_CLI_JOIN_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "resolver/text/diag.h"

enum place_state {
	PLACE_NEW,			/* there is no such file */
	PLACE_SAME,			/* it holds these octets already */
	PLACE_OTHER,			/* it holds others */
};

/* Owns path and octets. */
struct place {
	char *path;			/* from the root */
	char *octets;
	size_t length;
	mode_t mode;			/* of a new file; another keeps its own */
	gid_t group;			/* of a new file; (gid_t)-1: the writer's */
	bool replace;			/* PLACE_OTHER was made by nfdns join */
	bool backup;			/* keep what is replaced: PATH.backup */
	enum place_state state;		/* as place_look() found it */
	struct stat found;		/* what it found; of PLACE_NEW nothing */
};

/*
 * Finds the state.  What is no regular file is an error in diag, links too:
 * nothing is written through them.  Returns whether all is well.
 */
bool place_look(struct place *place, struct diag *diag)
    __attribute__((warn_unused_result));

/*
 * Makes the directory that the file is to be in, if it is the last that is
 * missing, and writes the file; nothing if it is the same already.  Returns
 * whether that went well; if not, an error is in diag: also if the file has
 * changed since place_look().
 */
bool place_write(const struct place *place, struct diag *diag)
    __attribute__((warn_unused_result));
void place_free(struct place *place);

/*
 * Removes a file, what an interrupted place_write() left of it, and its
 * directory if that is empty and "directory" is true.  1 if there was a file,
 * 0 if not, -1 after an error in diag.
 */
int place_remove(const char *path, bool directory, struct diag *diag);

/*
 * Only one "nfdns join" or "leave" at a time in a directory: locks a file there that
 * only root can open, since whoever can open a file or directory can lock it.  -1
 * after an error in diag.
 */
#define PLACE_LOCK ".lock.nfdns-join"
int place_lock(const char *directory, struct diag *diag);
/* Removes the file and closes it. */
void place_unlock(const char *directory, int lock);

/* The files of a directory that may be another user's. */

/* Owns its octets, behind which there is a NUL. */
struct input {
	char *path;			/* for messages */
	char *octets;
	size_t length;
};

/* A descriptor of the directory, or -1 after an error in diag. */
int input_directory(const char *path, struct diag *diag);

/*
 * Reads a regular file of at most "limit" octets in it; links are not followed,
 * since the reader may be root, and the directory's owner is not.  0; or a
 * negative errno, for which there is an error in diag unless it is -ENOENT.
 * input_free() in every case.
 */
int input_read(struct input *input, int directory, const char *directory_path,
    const char *name, size_t limit, struct diag *diag)
    __attribute__((warn_unused_result));

/* Overwrites the octets, which may be a token.  Start from zeros. */
void input_free(struct input *input);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of a directory that may be another user's. */
#ifndef NFDNS_NFQ_CLI_JOIN_INPUT_H
#define NFDNS_NFQ_CLI_JOIN_INPUT_H

#include <stddef.h>

#include "resolver/text/diag.h"

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

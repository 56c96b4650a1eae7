/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configuration files of any table of options (option.c, feed_option.c): the
 * text read, its syntax and its keys checked, each option read by its row.
 */
#ifndef NFDNS_POLICY_CONFIG_FILE_H
#define NFDNS_POLICY_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/config/setting.h"
#include "resolver/text/diag.h"

/*
 * The whole text of a regular file of at most CONFIG_MAX_OCTETS, which the
 * caller frees; it does not end with a NUL.  NULL after an error in diag.
 */
char *config_file_read(const char *path, size_t *length, struct diag *diag)
    __attribute__((warn_unused_result));

/*
 * The path from the root, since a daemon may change its directory.  The caller
 * frees; NULL for lack of memory or of a current directory (errno).
 */
char *config_file_absolute(const char *path)
    __attribute__((warn_unused_result));

/* A file as it was read; owns its texts. */
struct config_text {
	char *path;			/* as it was named, for messages */
	char *absolute;			/* from the root */
	char *text;			/* that need not end with a NUL */
	size_t length;
};

/*
 * Adds a copy of a text, or the file at path.  0 or a negative errno, with an error in
 * diag.
 */
int config_texts_add(struct config_text **texts, size_t *count,
    const char *path, const char *text, size_t length, struct diag *diag)
    __attribute__((warn_unused_result));
int config_texts_read(struct config_text **texts, size_t *count,
    const char *path, struct diag *diag) __attribute__((warn_unused_result));

/*
 * Adds the files *.conf of a directory beside that file, by their names, if it is
 * there.  Only root, or this process's user, may be able to write them.
 */
int config_texts_read_beside(struct config_text **texts, size_t *count,
    const char *path, const char *directory, struct diag *diag)
    __attribute__((warn_unused_result));

/* Whether the text sets "group.option"; false for one that is no configuration. */
bool config_text_sets(const struct config_text *text, const char *option);

void config_texts_free(struct config_text *texts, size_t count);

/*
 * Reads every option of load's table, from the texts or its default, into
 * load->base: what lists have is added up, of any other option the last one counts.
 * load->file and load->path are those of the text that is being read.  Every error
 * goes to load->diag; returns whether there is none.
 */
bool config_file_parse(const struct config_load *load,
    const struct config_text *texts, size_t count)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A configuration file of any table of options (option.h, feed_option.h): the
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

/*
 * Reads every option of load's table, from the text or its default, into
 * load->base.  text need not end with a NUL.  Every error goes to load->diag;
 * returns whether there is none.
 */
bool config_file_parse(const struct config_load *load, const char *text,
    size_t length) __attribute__((warn_unused_result));

#endif

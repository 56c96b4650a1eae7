/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state_dir/start.error: why the last start failed, for whoever has no journal. */
#ifndef NFDNS_NFQ_PROCESS_START_ERROR_H
#define NFDNS_NFQ_PROCESS_START_ERROR_H

#include <stdint.h>

#include "policy/config/config.h"

#define START_ERROR_TEXT 300

/* Writes a line, or removes the file if "why" is NULL.  That it fails is not told. */
void start_error_write(const struct config *config, const char *why);

/*
 * Reads the line; "" if the last start did not fail, or if another user wrote it.  Returns when it was written,
 * CLOCK_REALTIME seconds.
 */
int64_t start_error_read(const struct config *config,
    char why[static START_ERROR_TEXT]);

#endif

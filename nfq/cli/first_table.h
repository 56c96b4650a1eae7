/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of "nfdns join": a feed's first table, and what it is good for. */
#ifndef NFDNS_NFQ_CLI_FIRST_TABLE_H
#define NFDNS_NFQ_CLI_FIRST_TABLE_H

#include <stdint.h>

#include "policy/config/config.h"

/*
 * Waits until the feed is connected and keeps a table, "seconds" at most, and
 * prints how many names there are, or what is known of why not; what the feed
 * said before "since" (seconds since 1970) does not count.  config is the one
 * that names the feed's table.  An exit code.
 */
int first_table_wait(const struct config *config, const char *name,
    const char *namespace, int64_t since, unsigned int seconds);

#endif

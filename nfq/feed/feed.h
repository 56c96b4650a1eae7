/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nfdns-feed: tables from control planes, kept in files that nfdnsd follows.
 * The parent starts a process for each feed, so that one's token and memory
 * are not the other's, starts it again when it has died, and writes the status
 * files; it speaks with nobody.  This room knows nothing of the queue, the
 * rules or questions: whatever happens here, nfdnsd answers from the last
 * table.
 */
#ifndef NFDNS_NFQ_FEED_FEED_H
#define NFDNS_NFQ_FEED_FEED_H

#include "policy/config/feed_config.h"

/*
 * Runs until SIGTERM or SIGINT; SIGHUP reads the file at path again.  Takes
 * over config.  Returns an exit code.
 */
int feed_run(struct feeds_config *config, const char *path);

#endif

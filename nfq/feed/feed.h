/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nfdns-feed: a table from a control plane, kept in a file that nfdnsd follows.  One
 * process a feed, so that one's token and memory are not the other's; the service
 * manager starts it again when it has died.  This room knows nothing of the queue, the
 * rules or questions: whatever happens here, nfdnsd answers from the last table.
 */
#ifndef NFDNS_NFQ_FEED_FEED_H
#define NFDNS_NFQ_FEED_FEED_H

#include "policy/config/feed_config.h"

/*
 * Runs until SIGTERM or SIGINT; SIGHUP reads the file at path again.  Takes
 * over conf.  Returns an exit code.
 */
int feed_run(struct feed_conf *conf, const char *path);

#endif

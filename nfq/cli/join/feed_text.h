/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two files that join writes for a feed: for nfdns-feed, and for nfdnsd. */
#ifndef NFDNS_NFQ_CLI_JOIN_FEED_TEXT_H
#define NFDNS_NFQ_CLI_JOIN_FEED_TEXT_H

#include "resolver/feed/feed.h"

#define FEED_TEXT_HEAD	"# Written by nfdns join; nfdns leave removes it.\n"

/*
 * A file of feed.conf(5) with the feed: every option that it sets, and the directories
 * if they are not the default ones.  The caller frees it; NULL for lack of memory.
 */
char *feed_text(const struct feed_config *feed, const char *state_dir,
    const char *run_dir) __attribute__((warn_unused_result));

/*
 * A file of nfdnsd.conf(5) with the table of the feed (NULL: without it) and
 * mesh.namespace (NULL: without it).  As above.
 */
char *feed_text_table(const char *name, const char *namespace)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A feed as text of feed.conf(5). */
#ifndef NFDNS_NFQ_CLI_JOIN_FEED_TEXT_H
#define NFDNS_NFQ_CLI_JOIN_FEED_TEXT_H

#include "resolver/feed/feed.h"

/*
 * The group "{ ... }" that says what the feed does: every option that it sets.
 * The caller frees it; NULL for lack of memory.
 */
char *feed_text(const struct feed_config *feed) __attribute__((warn_unused_result));

/* A file without feeds that join can add one to.  As above. */
char *feed_text_file(const char *state_dir, const char *run_dir)
    __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of rules that others write: zones of policies and files of names.  What
 * is wrong with one of them is no error of the policy.  The last good text of it,
 * which is kept as resolver/sources/feed_file.h says, stands in for it; without
 * one, its rules are what policy_unloaded says.
 */
#ifndef NFDNS_POLICY_MATCH_RULES_FEEDS_H
#define NFDNS_POLICY_MATCH_RULES_FEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/match/rules.h"
#include "resolver/sources/feed_file.h"

#define RULES_FEED_MAX	((size_t)256 << 20)	/* octets of a file of rules */
#define RULES_FEED_TEXT	512
#define RULES_FEED_FREE	100	/* names: a smaller file may lose all but the last */
#define RULES_FEED_FORMAT "rules"		/* of a kept file's header */

/* Which text a feed's rules are of. */
enum rules_feed_state {
	RULES_FEED_CURRENT,
	RULES_FEED_KEPT,	/* the file cannot be used */
	RULES_FEED_HELD,	/* as before, since the file lost too many names */
	RULES_FEED_UNLOADED,	/* none */
	RULES_FEED_STATES
};

/* What the caller says of one of policy->sets: it may lie in shared memory. */
struct rules_feed_input {
	int file;			/* open; -1: it cannot be used */
	int kept;			/* open; -1: none */
	bool unsaved;			/* "kept" has to be written again */
	bool forced;			/* it may lose any number of names; */
	struct feed_hash accepted;	/* or if it is this text */
};

/* What has become of it. */
struct rules_feed {
	enum rules_feed_state state;
	uint64_t names;			/* of the text in use */
	int64_t time;			/* when that was kept; 0: not yet */
	struct feed_hash hash;		/* of the file, if state is HELD */
	char why[RULES_FEED_TEXT];	/* the file cannot be used; or "" */
	char *text;			/* the file, to be kept; or NULL; owned */
	size_t length;
};

/* What is compiled; borrows all. */
struct rules_feeds_job {
	const struct policy *policy;
	const char *path;		/* of the configuration, for messages */
	const struct rules_feed_input *inputs;	/* one for each of policy->sets */
	unsigned int limit;		/* share of its names in percent that a file
					 * may lose */
	const int *broker;		/* for what zones include: source_text.h; */
	unsigned int first;		/* the number of the first file there */
};

/*
 * As rules_build(); "feeds" has room for one for each of policy->sets, and the
 * caller clears them.  What is wrong with a file is a warning in diag, but for the
 * first error, which is "why".
 */
int rules_feeds_build(const struct rules_feeds_job *job,
    struct rules_feed *feeds, struct diag *diag, uint8_t **octets,
    size_t *size) __attribute__((warn_unused_result));

void rules_feeds_clear(struct rules_feed *feeds, size_t count);

#endif

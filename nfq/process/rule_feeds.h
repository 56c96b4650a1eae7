/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of rules that a configuration names, for a process that has them
 * compiled: what is open, what has become of them, and where the last good ones
 * are kept.  That is state_dir/rules, one file for each in the form of
 * resolver/sources/feed_file.h, 0600, replaced by rename(2).
 *
 * This side reads none of them.  The compiler process reads both texts and
 * decides (policy/match/rules_feeds.h), and it writes the good one into a file
 * that it is given; that becomes the kept one only if the compiled rules are used.
 */
#ifndef NFDNS_NFQ_PROCESS_RULE_FEEDS_H
#define NFDNS_NFQ_PROCESS_RULE_FEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "nfq/process/file_stamp.h"
#include "policy/config/config.h"
#include "policy/match/rules_feeds.h"
#include "resolver/replace.h"
#include "resolver/text/diag.h"

#define RULE_FEEDS_DIRECTORY "rules"	/* in state_dir */
#define RULE_FEED_NAME	32
#define RULE_FEED_TEXT	(2 * RULES_FEED_TEXT)

struct rule_feed {
	char *path;			/* the file that others write */
	bool is_zone;			/* of policies, so that it may include files */
	char name[RULE_FEED_NAME];	/* in the directory; of path and origin */
	struct rules_feed_input input;	/* whose descriptors are owned */
	struct file_stamp written;	/* of the open file; all zero: none */
	struct file_stamp seen;		/* of what was at path last */
	enum rules_feed_state state;
	uint64_t names;
	struct feed_hash held;		/* of a file that waits to be confirmed */
	char problem[RULE_FEED_TEXT];	/* "": the file is in use */
	bool drafting;			/* the next kept one is being written: */
	struct replace draft;
	int memory;			/* the same if there is no room; or -1 */
};

/* All zero: none.  Call rule_feeds_close() for it in any case. */
struct rule_feeds {
	struct rule_feed *list;		/* one for each of policy.sets */
	size_t count;
	bool keep;			/* and not only read what is kept */
	bool strict;			/* one that cannot be used is an error */
	bool refuse_unloaded;
	int directory;			/* or a negative errno */
	char *path;			/* of the directory */
	char trouble[RULE_FEED_TEXT];	/* one could not be kept; or "" */
};

/* What the caller wants of them. */
enum rule_feeds_wish {
	RULE_FEEDS_READ,	/* as they are kept; nothing is written */
	RULE_FEEDS_CHECK,	/* likewise; a file that cannot be used is an error */
	RULE_FEEDS_KEEP,	/* the good ones are kept */
	RULE_FEEDS_FORCE,	/* likewise, however few names they have */
	RULE_FEEDS_SAFE,	/* of the kept ones only */
};

/*
 * Opens them.  "before" are those in use, NULL at the start: their last good texts
 * count more than the directory's, and a file that has been written again with the
 * text that they hold back is taken.  What is odd about kept files is a warning in
 * diag.  0 or -ENOMEM.
 */
int rule_feeds_open(struct rule_feeds *feeds, const struct config *config,
    const struct rule_feeds *before, enum rule_feeds_wish wish,
    struct diag *diag) __attribute__((warn_unused_result));

/*
 * The compiler's report "NUMBER STATE NAMES TIME HIGH LOW WHY".  False: it is
 * none.  Adds a warning to diag if the file is not in use, or an error, as wished.
 */
bool rule_feeds_report(struct rule_feeds *feeds, const char *report,
    struct diag *diag) __attribute__((warn_unused_result));

/*
 * The compiler's request "NUMBER ERRNO" for a file to write the good text to;
 * ERRNO is why it could not write the one before, or 0.  A descriptor, which stays
 * the feeds', or a negative errno.
 */
int rule_feeds_draft(struct rule_feeds *feeds, const char *request)
    __attribute__((warn_unused_result));

/* The compiled rules are used: what was written is kept from now on. */
void rule_feeds_commit(struct rule_feeds *feeds);

/* Why the rules are not those of all files, or may be lost; "" if all is well. */
void rule_feeds_problem(const struct rule_feeds *feeds, char *text,
    size_t size);

/* Whether there is another file at its path than at the last look. */
bool rule_feed_changed(struct rule_feed *feed);

/* Drops what was not committed, closes and frees all, and empties it. */
void rule_feeds_close(struct rule_feeds *feeds);

#endif

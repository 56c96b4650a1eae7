/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of all feeds as the parent sees them: which there should be,
 * which there are, and when one is started again.  Time is a parameter.
 */
#ifndef NFDNS_NFQ_FEED_CHILDREN_H
#define NFDNS_NFQ_FEED_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "nfq/feed/child.h"
#include "resolver/clock.h"
#include "resolver/sources/feed_file.h"

#define CHILDREN_RESTART_MS	1000	/* doubled with each death, up to: */
#define CHILDREN_RESTART_MAX_MS	30000
#define CHILDREN_STEADY_MS	60000	/* who lived so long begins anew */
#define CHILDREN_STOP_MS	5000	/* then it is killed */
#define CHILDREN_SILENT_MS	20000	/* without a sign of life: so it is shown, */
#define CHILDREN_HUNG_MS	60000	/* and then it is replaced */
#define CHILDREN_AWAY_MS	5000	/* this process was stopped itself */

struct feed_child {
	char name[FEED_FILE_NAME_MAX + 1];
	const struct feed_config *feed;	/* NULL: it is to end */
	pid_t pid;			/* 0: none */
	int stop;			/* eventfd; the child's stop_fd */
	struct feed_page *page;		/* shared memory */
	unsigned int ticks;		/* of the page, as seen last, */
	monotime_t heard;		/* and when they were others than before */
	monotime_t started;
	monotime_t next;		/* its start, or its being killed */
	int delay_ms;
	bool stopping;
	struct feed_report report;	/* as written last */
	monotime_t written;
	monotime_t seen;		/* when state_dir was told of the last life */
};

struct children {
	const struct feeds_config *config;
	struct feed_child *list;	/* no two of a name but for one that ends */
	size_t count;
	monotime_t ticked;
};

/*
 * Makes the feeds of config those that are wanted.  Children whose feed is as
 * before stay; "all": none do.  0 or -ENOMEM.
 */
int children_want(struct children *children, const struct feeds_config *config,
    bool all, monotime_t now) __attribute__((warn_unused_result));

/* Starts and kills what is due. */
void children_tick(struct children *children, monotime_t now);

/* A process has ended, with that status of waitpid(2). */
void children_ended(struct children *children, pid_t pid, int wait_status,
    monotime_t now);

/* Writes the status files that are due. */
void children_report(struct children *children, monotime_t now);


/* Asks all to end, and kills those that do not.  Frees. */
void children_stop(struct children *children);

/* Milliseconds until children_tick() or children_report() has to do something. */
int children_timeout(const struct children *children, monotime_t now);

#endif

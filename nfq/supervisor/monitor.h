/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitor: what the supervisor checks periodically.  Each concern has its
 * own state.  Time is a parameter: only the supervisor's loop reads the clock.
 * A problem is logged once when it begins and once when it ends, and
 * supervisor_show_state() is called.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_MONITOR_H
#define NFDNS_NFQ_SUPERVISOR_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "nfq/supervisor/canary.h"
#include "resolver/clock.h"
#include "policy/config/config.h"
#include "policy/config/resolv_conf.h"
#include "policy/status/feed_status.h"

struct supervisor;

/* The canary question: idle, or sent and not answered yet (canary.fd >= 0). */
struct monitor_canary {
	struct canary canary;
	int interval_ms;
	monotime_t next;		/* when idle: time to send the next one */
	monotime_t sent;
	monotime_t answered;		/* when the last answer came */
	bool unanswered;		/* the last canary was not answered */
};

/* The service manager's watchdog: it restarts a daemon that does not answer. */
struct monitor_watchdog {
	int patience_ms;		/* 0: there is no watchdog */
	monotime_t next;
};

/* The comparison of the kernel's rules with the intended ones. */
struct monitor_rules {
	monotime_t next;
	bool differs;
};

/* The sets of intercepted TCP connections. */
struct monitor_streams {
	bool full;
	monotime_t full_until;		/* at least */
	uint64_t passed;		/* connections so far without room */
};

/* The feeds whose tables the configuration names. */
struct monitor_feeds {
	char problem[FEED_HEALTH_TEXT];	/* of the first that is not well, or "" */
	int64_t offset_ms;		/* of the time of day, from monotime_t */
	monotime_t settled;		/* the time of day was set: none before */
};

/* The file of metrics. */
struct monitor_metrics {
	monotime_t next;
	bool written;			/* the file is there */
	int error;			/* of the last time: each is logged once */
};

/* What the configuration names and the machine lacks: config->absent. */
struct monitor_absent {
	monotime_t next;		/* look */
	size_t seen;			/* how much it was at the last one */
};

struct monitor {
	int tick_ms;
	monotime_t next;		/* tick */
	struct monitor_canary canary;
	struct monitor_watchdog watchdog;
	struct monitor_rules rules;
	struct monitor_absent absent;
	struct monitor_streams streams;
	struct monitor_feeds feeds;
	struct monitor_metrics metrics;
	struct resolv_conf resolv_conf;	/* as last read */
};

/* What a reload is to do; each includes those before it. */
enum reload_wish {
	RELOAD_NOTHING,
	RELOAD_TABLES,		/* tables and files of rules, if they changed;
				   all else stays as it is */
	RELOAD_MACHINE,		/* and what the config takes from the machine:
				   users, cgroups, resolv.conf */
	RELOAD_ALL,		/* the config's file too */
	RELOAD_FORCED,		/* and accept a table that shrinks */
};

/* monitor.c */

#define MONITOR_RULES_MS 10000	/* from one comparison of the rules to the next */

/* Call it at the end of the start, before the first tick. */
void monitor_start(struct supervisor *s, monotime_t now);
/* Ends a canary in flight; allowed before monitor_start() if its fd is -1. */
void monitor_stop(struct supervisor *s);
/*
 * Call it every LIFE_LOOK_MS.  It works once a second, or more often if the
 * watchdog's time is short.
 */
enum reload_wish monitor_tick(struct supervisor *s, monotime_t now);

/* monitor_resolv_conf.c */

/*
 * Reads the search list of /etc/resolv.conf.  RELOAD_MACHINE if it changed and
 * the configuration has no search list: then the table contains it.
 */
enum reload_wish monitor_resolv_conf(struct supervisor *s);

/* monitor_canary.c */

void monitor_canary_start(struct monitor_canary *m, int watchdog_ms,
    int tick_ms, monotime_t now);
/* Sends the next canary when it is due; gives up on one after two seconds. */
void monitor_canary_tick(struct supervisor *s, monotime_t now);
/* Call it if the canary's descriptor is readable. */
void monitor_canary_ready(struct supervisor *s, monotime_t now);
/* Call it when a new worker is ready: sends the next canary at once. */
void monitor_worker_ready(struct supervisor *s, monotime_t now);

/* monitor_feeds.c */

/* Looks how the feeds are.  now_ms is CLOCK_REALTIME. */
void monitor_feeds_tick(struct supervisor *s, int64_t now_ms, monotime_t now);

#endif

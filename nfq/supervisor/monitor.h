/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitor: what the supervisor checks by itself, each concern with a state
 * of its own.  Time is a parameter: only the supervisor's loop asks the clock.
 * A concern that the user should know of is logged once when it begins and once
 * when it ends, and supervisor_show_state() is called.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_MONITOR_H
#define NFDNS_NFQ_SUPERVISOR_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "nfq/supervisor/canary.h"
#include "resolver/clock.h"
#include "policy/config/resolv_conf.h"

struct supervisor;

/* The canary question: idle, or sent and not answered yet (canary.fd >= 0). */
struct monitor_canary {
	struct canary canary;
	int interval_ms;
	monotime_t next;		/* when idle: the next is sent then */
	monotime_t sent;
	monotime_t answered;		/* the last one that was */
	bool unanswered;		/* the last one was not */
};

/* The service manager's watchdog: it restarts a daemon that does not answer. */
struct monitor_watchdog {
	int patience_ms;		/* 0: there is none */
	monotime_t next;
};

/* The rules in the kernel, compared with those that are meant. */
struct monitor_rules {
	monotime_t next;
	bool differs;
};

/* The sets of intercepted TCP connections. */
struct monitor_streams {
	bool full;
	monotime_t full_until;		/* at least */
	uint64_t passed;		/* connections without room so far */
};

struct monitor {
	int tick_ms;
	monotime_t next;		/* tick */
	struct monitor_canary canary;
	struct monitor_watchdog watchdog;
	struct monitor_rules rules;
	struct monitor_streams streams;
	struct resolv_conf resolv_conf;	/* as last read */
};

/* What the monitor wants done. */
enum monitor_wish {
	MONITOR_NOTHING,
	MONITOR_RELOAD,			/* of the tables: new search list */
};

/* monitor.c */

/* Call before the first tick, after the start's own canary was answered. */
void monitor_start(struct supervisor *s, monotime_t now);
/* Ends what is under way.  For a monitor that was not started: fd is -1. */
void monitor_stop(struct supervisor *s);
/*
 * Call it every LIFE_LOOK_MS; it does something once a second, or more often
 * if the watchdog is impatient.
 */
enum monitor_wish monitor_tick(struct supervisor *s, monotime_t now);

/* monitor_resolv_conf.c */

/*
 * Reads the machine's search list.  It is compiled into the table, unless the
 * configuration has a search list itself: MONITOR_RELOAD if it changed.
 */
enum monitor_wish monitor_resolv_conf(struct supervisor *s);

/* monitor_canary.c */

void monitor_canary_start(struct monitor_canary *m, int watchdog_ms,
    int tick_ms, monotime_t now);
/* Sends the next canary when it is due, gives up one after two seconds. */
void monitor_canary_tick(struct supervisor *s, monotime_t now);
/* Call it when the canary's descriptor is readable. */
void monitor_canary_ready(struct supervisor *s, monotime_t now);
/* A new worker answers: the next canary is sent at once. */
void monitor_worker_ready(struct supervisor *s, monotime_t now);

/* monitor_watchdog.c */

/*
 * Answers the service manager's watchdog, twice within its patience, as long
 * as the last canary that was answered is not older than that patience.
 */
void monitor_watchdog_tick(struct monitor_watchdog *m, int tick_ms,
    monotime_t answered, monotime_t now);

/* monitor_rules.c */

#define MONITOR_RULES_MS 10000

/*
 * Every ten seconds: rules that are gone are installed again, rules that were
 * changed are reported.  The table without the owner flag (kernel before 5.12)
 * can be flushed by any other program.  Returns whether it was time.
 */
bool monitor_rules_tick(struct supervisor *s, monotime_t now);

/* monitor_counters.c */

/* The kernel's counters of rules and queues, for the status page. */
void monitor_counters_tick(struct supervisor *s);

/* monitor_streams.c */

/* "cheap": only if the kernel has the numbers at hand. */
void monitor_streams_tick(struct supervisor *s, monotime_t now, bool cheap);

#endif

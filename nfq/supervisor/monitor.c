/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitor: what the supervisor checks periodically.  Each concern has its
 * own state.  Time is a parameter: only the supervisor's loop reads the clock.
 * A problem is logged once when it begins and once when it ends, and
 * supervisor_show_state() is called.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/supervisor/parts.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/notify.h"
#include "nfq/queue/queue.h"
#include "policy/log.h"
#include "policy/status/metrics.h"

#define TICK_MS		1000
#define ABSENT_MS	10000

/* Percent of the room for TCP connections; how long "full" lasts after a refusal. */
#define NEARLY_FULL	90
#define FULL_MS		5000

void
monitor_start(struct supervisor *s, monotime_t now)
{
	struct monitor *m = &s->monitor;
	const uint64_t watchdog_ms = notify_watchdog_usec() / 1000;

	m->watchdog.patience_ms =
	    watchdog_ms < INT32_MAX ? (int)watchdog_ms : INT32_MAX;
	m->tick_ms = TICK_MS;
	/* Two answers within the watchdog's time, a canary before each. */
	if (m->watchdog.patience_ms > 0 &&
	    m->watchdog.patience_ms / 4 < m->tick_ms)
		m->tick_ms = m->watchdog.patience_ms / 4 > 0 ?
		    m->watchdog.patience_ms / 4 : 1;
	monitor_canary_start(&m->canary, m->watchdog.patience_ms, m->tick_ms,
	    now);
	m->rules.next = monotime_add_ms(now, MONITOR_RULES_MS);
	m->absent.seen = s->config->absent;
	(void)resolv_conf_read(&m->resolv_conf, RESOLV_CONF_PATH);
}

/*
 * The service manager's watchdog.  If canaries are not answered, the daemon
 * does not work: it stops answering the watchdog, so that it is restarted.
 */
static void
monitor_watchdog_tick(struct monitor_watchdog *m, int tick_ms,
    monotime_t answered, monotime_t now)
{
	if (m->patience_ms == 0 || !monotime_is_past(now, m->next) ||
	    monotime_ms_since(now, answered) >= m->patience_ms)
		return;
	m->next = monotime_add_ms(now, m->patience_ms / 2 - tick_ms);
	(void)notify("WATCHDOG=1");
}

/*
 * How full the sets of intercepted TCP connections are.  If a set is full, new
 * connections go to their nameservers, which do not know the mesh's names: the
 * state is "degraded" meanwhile.
 */
static void
tell_streams(struct supervisor *s, uint32_t most)
{
	if (s->monitor.streams.full)
		log_warning("the set of intercepted TCP connections is full "
		    "(%" PRIu32 " of %" PRIu32 "): new ones go to their nameservers, "
		    "and get no answers from the mesh; "
		    "\"ss -tnp dport = :53\" shows who opens them", most,
		    s->set.streams_max);
	else
		log_notice("there is room for TCP connections again (%" PRIu32
		    " of %" PRIu32 ")", most, s->set.streams_max);
	supervisor_show_state(s);
}

static void
monitor_streams_tick(struct supervisor *s, monotime_t now, bool cheap)
{
	struct status_supervisor *page = s->status.supervisor;
	struct monitor_streams *m = &s->monitor.streams;
	const uint64_t passed = atomic_load(&page->streams_passed);
	uint32_t counts[2], most = 0;
	bool full;

	if (!s->config->capture.tcp)
		return;
	atomic_store(&page->streams_max, s->set.streams_max);
	if (rules_kernel_streams(s->kernel, cheap, counts) == 0) {
		atomic_store(&page->streams[0], counts[0]);
		atomic_store(&page->streams[1], counts[1]);
	}
	for (size_t i = 0; i < 2; i++) {
		uint32_t count = atomic_load(&page->streams[i]);

		most = count > most ? count : most;
	}
	if (passed != m->passed)
		m->full_until = monotime_add_ms(now, FULL_MS);
	m->passed = passed;
	full = !monotime_is_past(now, m->full_until) ||
	    most >= s->set.streams_max / 100 * NEARLY_FULL;
	if (full != m->full) {
		m->full = full;
		tell_streams(s, most);
	}
}

/* Writes run_dir/METRICS_FILE every metrics.interval seconds. */
static void
monitor_metrics_tick(struct supervisor *s, monotime_t now)
{
	struct monitor_metrics *m = &s->monitor.metrics;
	const uint32_t interval_s = s->config->metrics_interval;
	int error;

	if (interval_s == 0) {
		/* A reload may have turned it off: old numbers mislead. */
		if (m->written)
			metrics_remove(s->config->run_dir);
		m->written = false;
		return;
	}
	if (!monotime_is_past(now, m->next))
		return;
	m->next = monotime_add_ms(now, (int64_t)interval_s * 1000);
	error = metrics_write(&s->status, s->config);
	if (error < 0 && error != m->error)
		log_warning("%s/" METRICS_FILE " cannot be written: %s",
		    s->config->run_dir, strerror(-error));
	m->error = error;
	m->written = m->written || error == 0;
}

/* Compares the kernel's rules with those put in. */
static void
check_rules(struct supervisor *s)
{
	struct monitor_rules *m = &s->monitor.rules;
	struct diag diag = DIAG_INIT;
	enum rules_state state;
	int error = rules_kernel_verify(s->kernel, &state, &diag);
	bool differs = error == 0 && state == RULES_DIFFER;

	if (error == 0 && state == RULES_ABSENT) {
		diag_free(&diag);
		error = zone_install(s, s->set.zone != 0, &diag);
		if (error == 0)
			log_warning("table inet nfdns was gone: another program "
			    "flushed the rules; installed again");
		else
			diag_log(&diag);
	} else if (differs && !m->differs) {
		log_warning("another program changed table inet nfdns: nfdns "
		    "rules verify shows how; a restart installs it again");
	}
	m->differs = differs;
	diag_free(&diag);
}

static bool
monitor_rules_tick(struct supervisor *s, monotime_t now)
{
	struct monitor_rules *m = &s->monitor.rules;

	/*
	 * While a reload swaps, the kernel has the new rules, and s->set still
	 * describes the old ones.
	 */
	if (!monotime_is_past(now, m->next) ||
	    s->reload.phase == RELOAD_SWAPPING)
		return false;
	m->next = monotime_add_ms(now, MONITOR_RULES_MS);
	check_rules(s);
	return true;
}

/* Counters that only the kernel has. */

/* Columns of /proc/net/netfilter/nfnetlink_queue (nfqnl seq_show()). */
enum { COLUMN_NUMBER = 0, COLUMN_WAITING = 2, COLUMN_DROPPED = 5,
	COLUMN_USER_DROPPED = 6, COLUMNS = 7 };

/* The kernel's counters of our queues. */
struct queue_numbers {
	uint64_t dropped;		/* packets of all, since they were bound */
	uint32_t waiting[CONFIG_MAX_WORKERS];	/* of each, without verdict */
};

/* All zero if they cannot be read. */
static void
read_queues(const struct supervisor *s, struct queue_numbers *numbers)
{
	FILE *file = fopen("/proc/net/netfilter/nfnetlink_queue", "re");
	char line[256];

	memset(numbers, 0, sizeof(*numbers));
	if (file == NULL) {
		/*
		 * From the sockets: packets that a full socket dropped, and
		 * about how many are unread.  A supervisor that is not root may
		 * not read the kernel's list.
		 */
		for (size_t i = 0; i < s->queue_count; i++) {
			uint32_t octets, drops;

			if (queue_backlog(s->queues[i], &octets, &drops) < 0)
				continue;
			numbers->dropped += drops;
			numbers->waiting[i] = queue_packets_of(octets);
		}
		return;
	}
	while (fgets(line, sizeof(line), file) != NULL) {
		uint64_t column[COLUMNS] = { 0 };
		uint64_t n;
		char *p = line;

		for (size_t i = 0; i < COLUMNS; i++)
			column[i] = strtoull(p, &p, 10);
		n = column[COLUMN_NUMBER] - s->config->queue.number;
		if (n >= s->queue_count)
			continue;	/* another program's */
		numbers->waiting[n] = (uint32_t)column[COLUMN_WAITING];
		numbers->dropped += column[COLUMN_DROPPED] +
		    column[COLUMN_USER_DROPPED];
	}
	(void)fclose(file);
}

static void
monitor_counters_tick(struct supervisor *s)
{
	struct queue_numbers numbers;
	struct status_supervisor *page;
	uint64_t packets[RULES_COUNTERS];
	struct status_counters c;

	read_queues(s, &numbers);
	page = s->status.supervisor;
	if (rules_kernel_counters(s->kernel, packets) == 0) {
		atomic_store(&page->rule_packets, packets[COUNTER_QUESTIONS]);
		atomic_store(&page->surplus, packets[COUNTER_SURPLUS]);
		atomic_store(&page->streams_passed,
		    packets[COUNTER_STREAMS_FULL]);
	}
	for (size_t i = 0; i < s->queue_count; i++)
		atomic_store(&page->queue_waiting[i], numbers.waiting[i]);
	if (numbers.dropped > 0)
		atomic_store(&page->queue_dropped, numbers.dropped);
	/*
	 * For packet logs, which have no record of what nobody read.  What is
	 * "unseen" is not among it: that number has packets that are about to
	 * be read.
	 */
	status_counters(&s->status, &c);
	atomic_store(&s->status.workers[0].unread,
	    c.queue_dropped + atomic_load(&s->status.supervisor->surplus));
}

/*
 * Whether some of what the machine lacked is there now: reads the text again, as
 * the reload would.  A reload that is refused is not tried again for the same.
 */
static enum reload_wish
look_for_absent(struct supervisor *s, monotime_t now)
{
	struct monitor_absent *m = &s->monitor.absent;
	enum reload_wish wish = RELOAD_NOTHING;
	struct diag diag = DIAG_INIT;
	struct config *again;

	if (s->config->absent == 0 || s->reload.phase != RELOAD_IDLE ||
	    !monotime_is_past(now, m->next))
		return RELOAD_NOTHING;
	m->next = monotime_add_ms(now, ABSENT_MS);
	if (config_again(&again, s->config, &diag) == 0) {
		if (again->absent != m->seen &&
		    again->absent != s->config->absent)
			wish = RELOAD_MACHINE;
		m->seen = again->absent;
		config_free(again);
	}
	diag_free(&diag);
	return wish;
}

static enum reload_wish
larger(enum reload_wish a, enum reload_wish b)
{
	return a > b ? a : b;
}

enum reload_wish
monitor_tick(struct supervisor *s, monotime_t now)
{
	struct monitor *m = &s->monitor;
	enum reload_wish wish = RELOAD_NOTHING;

	if (!monotime_is_past(now, m->next))
		return RELOAD_NOTHING;
	m->next = monotime_add_ms(now, m->tick_ms);
	monitor_counters_tick(s);
	hitters_look(&s->status.hitters, now);
	supervisor_tend_audit(s);
	supervisor_retry_listeners(s);
	monitor_streams_tick(s, now, true);
	monitor_canary_tick(s, now);
	monitor_metrics_tick(s, now);
	monitor_watchdog_tick(&m->watchdog, m->tick_ms, m->canary.answered,
	    now);
	supervisor_look_at_cgroups(s);
	monitor_feeds_tick(s, (int64_t)(realtime_ns() / 1000000), now);
	keep_image_tick(s, now);
	wish = larger(wish, look_for_absent(s, now));
	if (monitor_rules_tick(s, now)) {
		monitor_streams_tick(s, now, false);
		supervisor_watch_routes(s);
	}
	return wish;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The monitor's tick and start; each concern has its own file. */
#include "nfq/supervisor/monitor.h"

#include "nfq/process/notify.h"
#include "nfq/supervisor/parts.h"

#define TICK_MS		1000
#define ABSENT_MS	10000

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

void
monitor_stop(struct supervisor *s)
{
	canary_close(&s->monitor.canary.canary);
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
	supervisor_retry_sockets(s);
	monitor_streams_tick(s, now, true);
	monitor_canary_tick(s, now);
	monitor_metrics_tick(s, now);
	monitor_watchdog_tick(&m->watchdog, m->tick_ms, m->canary.answered,
	    now);
	if (s->watch == NULL)
		wish = monitor_resolv_conf(s);
	wish = larger(wish, monitor_feeds_tick(s,
	    (int64_t)(realtime_ns() / 1000000), now));
	wish = larger(wish, supervisor_feeds_tick(s));
	wish = larger(wish, look_for_absent(s, now));
	if (monitor_rules_tick(s, now)) {
		monitor_streams_tick(s, now, false);
		supervisor_watch_routes(s);
	}
	return wish;
}

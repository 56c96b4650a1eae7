/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The service manager's watchdog.  If canaries are not answered, the daemon
 * does not work: it stops answering the watchdog, so that it is restarted.
 */
#include "nfq/process/notify.h"
#include "nfq/supervisor/monitor.h"

void
monitor_watchdog_tick(struct monitor_watchdog *m, int tick_ms,
    monotime_t answered, monotime_t now)
{
	if (m->patience_ms == 0 || !monotime_is_past(now, m->next) ||
	    monotime_ms_since(now, answered) >= m->patience_ms)
		return;
	m->next = monotime_add_ms(now, m->patience_ms / 2 - tick_ms);
	(void)notify("WATCHDOG=1");
}

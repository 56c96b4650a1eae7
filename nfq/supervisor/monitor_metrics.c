/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "nfq/supervisor/parts.h"
#include "policy/log.h"
#include "policy/status/metrics.h"

void
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
	error = metrics_write(&s->status, s->config->run_dir);
	if (error < 0 && error != m->error)
		log_warning("%s/" METRICS_FILE " cannot be written: %s",
		    s->config->run_dir, strerror(-error));
	m->error = error;
	m->written = m->written || error == 0;
}

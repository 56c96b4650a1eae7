/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How full the sets of intercepted TCP connections are.  If a set is full, new
 * connections go to their nameservers, which do not know the mesh's names: the
 * state is "degraded" meanwhile.
 */
#include <inttypes.h>

#include "nfq/supervisor/parts.h"
#include "policy/log.h"

/* Percent of the room; how long "full" lasts after the last refusal. */
#define NEARLY_FULL	90
#define FULL_MS		5000

static void
tell(struct supervisor *s, uint32_t most)
{
	if (s->monitor.streams.full)
		log_warning("the set of intercepted TCP connections is full "
		    "(%" PRIu32 " of %" PRIu32 "): new ones go to their nameservers, "
		    "and get no answers from the mesh: see stream.tracked", most,
		    s->set.streams_max);
	else
		log_notice("there is room for TCP connections again (%" PRIu32
		    " of %" PRIu32 ")", most, s->set.streams_max);
	supervisor_show_state(s);
}

void
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
		tell(s, most);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How full the sets of intercepted TCP connections are.  Connections that find
 * no room go to their nameservers, so names of the mesh are not answered: that
 * is worth the word "degraded" while it goes on.
 */
#include <inttypes.h>

#include "nfq/supervisor/parts.h"
#include "policy/log.h"

/* Percent of the room, and how long after the last that found none. */
#define NEARLY_FULL	90
#define FULL_MS		5000

static void
tell(struct supervisor *s, uint32_t most)
{
	if (s->monitor.streams_full)
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
monitor_streams(struct supervisor *s, int64_t now, bool cheap)
{
	struct status_supervisor *page = s->status.supervisor;
	struct monitor *h = &s->monitor;
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
	if (passed != h->streams_passed)
		h->streams_full_ms = now + FULL_MS;
	h->streams_passed = passed;
	full = now < h->streams_full_ms ||
	    most >= s->set.streams_max / 100 * NEARLY_FULL;
	if (full != h->streams_full) {
		h->streams_full = full;
		tell(s, most);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/metrics_forward.h"

#include <errno.h>
#include <stdlib.h>

#include "policy/status/forward_status.h"
#include "resolver/dns/name.h"

static uint64_t
load(const _Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

/* A family of one counter for each upstream. */
static void
put_upstreams(const struct metrics_out *m, const struct status_forwarding *f,
    const char *family, enum status_upstream_count counter, const char *help)
{
	metrics_counter(m, family, help);
	for (uint32_t i = 0; i < f->upstreams; i++)
		metrics_sample(m, family,
		    LABELS({ "upstream", f->upstream[i].text }),
		    load(&f->upstream[i].counters[counter]));
}

static void
put_upstream_states(const struct metrics_out *m,
    const struct status_forwarding *f)
{
	static const char srtt[] = "nfdns_forward_upstream_srtt_seconds";

	metrics_gauge(m, "nfdns_forward_upstream_up",
	    "1 if the upstream is asked.");
	for (uint32_t i = 0; i < f->upstreams; i++) {
		const uint32_t state = atomic_load(&f->upstream[i].state);

		metrics_sample(m, "nfdns_forward_upstream_up",
		    LABELS({ "upstream", f->upstream[i].text }),
		    state == STATUS_UPSTREAM_UP ||
		    state == STATUS_UPSTREAM_PROBING);
	}
	metrics_gauge(m, srtt, "Smoothed round-trip time; 0: not known.");
	for (uint32_t i = 0; i < f->upstreams; i++)
		metrics_real(m, srtt,
		    LABELS({ "upstream", f->upstream[i].text }),
		    (double)atomic_load(&f->upstream[i].srtt_us) / 1e6);
}

static void
put_domains(const struct metrics_out *m, const struct status_forwarding *f)
{
	static const struct {
		const char *family, *help;
		enum status_domain_count counter;
	} rows[] = {
		{ "nfdns_forward_domain_requests_total",
		  "Questions for names of a forward domain.",
		  DOMAIN_QUESTIONS },
		{ "nfdns_forward_domain_cache_hits_total",
		  "Of these, answered from the cache.", DOMAIN_HITS },
		{ "nfdns_forward_domain_stale_total",
		  "Of these, answered by expired answers (RFC 8767).",
		  DOMAIN_STALE },
		{ "nfdns_forward_domain_failed_total",
		  "Of these, answered by SERVFAIL: no upstream answered.",
		  DOMAIN_FAILED },
	};
	char name[NAME_TEXT_SIZE];

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		metrics_counter(m, rows[r].family, rows[r].help);
		for (uint32_t i = 0; i < f->domains; i++)
			metrics_sample(m, rows[r].family, LABELS({ "domain",
			    name_to_text(f->domain[i].name, name) }),
			    load(&f->domain[i].counters[rows[r].counter]));
	}
}

static void
put_probes(const struct metrics_out *m, const struct status_forwarding *f)
{
	static const char family[] = "nfdns_forward_probe_duration_seconds";
	static const uint32_t bounds_ms[] = PROBE_BUCKETS_MS;
	uint32_t bounds[PROBE_BUCKETS - 1];
	uint64_t counts[PROBE_BUCKETS];

	if (f->probes == 0)
		return;
	for (size_t i = 0; i < PROBE_BUCKETS - 1; i++)
		bounds[i] = bounds_ms[i] * 1000;
	metrics_gauge(m, "nfdns_forward_probe_success",
	    "1 if the last reply to a probe was good.");
	for (uint32_t i = 0; i < f->probes; i++)
		metrics_sample(m, "nfdns_forward_probe_success",
		    LABELS({ "probe", f->probe[i].label }),
		    atomic_load(&f->probe[i].state) == PROBE_GOOD);
	metrics_counter(m, "nfdns_forward_probe_errors_total",
	    "Probes without a good reply.");
	for (uint32_t i = 0; i < f->probes; i++)
		metrics_sample(m, "nfdns_forward_probe_errors_total",
		    LABELS({ "probe", f->probe[i].label }),
		    load(&f->probe[i].counters[PROBE_ERRORS]));
	metrics_histogram(m, family, "How long good replies to probes took.");
	for (uint32_t i = 0; i < f->probes; i++) {
		for (size_t n = 0; n < PROBE_BUCKETS; n++)
			counts[n] = load(&f->probe[i].buckets[n]);
		metrics_buckets(m, family, &(struct metrics_label){ "probe",
		    f->probe[i].label }, counts, bounds, PROBE_BUCKETS,
		    load(&f->probe[i].counters[PROBE_SUM_US]) * 1000);
	}
}

int
metrics_forward(const struct metrics_out *m, const struct status_page *page,
    const struct status_counters *c)
{
	struct status_forwarding *f = forward_status_read(page->forwarding);

	if (f == NULL)
		return -ENOMEM;
	metrics_one_gauge(m, "nfdns_forward_held",
	    "Questions that wait for an upstream.", c->forward[FORWARD_HELD]);
	metrics_one_counter(m, "nfdns_forward_cache_hits_total",
	    "Questions that were answered from the cache.",
	    c->cached + c->forward[FORWARD_HITS]);
	metrics_one_counter(m, "nfdns_forward_mismatched_total",
	    "Replies to other questions than those asked, as forged ones are.",
	    c->forward[FORWARD_MISMATCHED]);
	metrics_one_counter(m, "nfdns_forward_abandoned_total",
	    "Late answers that were dropped, since the client had closed its "
	    "socket.", c->forward[FORWARD_ABANDONED]);
	if (f->upstreams > 0) {
		put_upstream_states(m, f);
		put_upstreams(m, f, "nfdns_forward_upstream_sent_total",
		    UPSTREAM_SENT, "Messages to an upstream.");
		put_upstreams(m, f, "nfdns_forward_upstream_timeouts_total",
		    UPSTREAM_TIMEOUTS, "Of these, without a reply in time.");
		put_upstreams(m, f, "nfdns_forward_upstream_errors_total",
		    UPSTREAM_ERRORS, "Of these, errors of the network.");
		put_upstreams(m, f, "nfdns_forward_upstream_failures_total",
		    UPSTREAM_FAILURES, "Replies that were a reason to ask "
		    "another upstream.");
		put_domains(m, f);
	}
	put_probes(m, f);
	free(f);
	return 0;
}

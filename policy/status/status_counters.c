/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums over the slots of the page. */
#include "policy/status/status.h"

#include <string.h>

static const struct {
	uint16_t type;
	const char *text;
} types[ASKED_TYPES] = {
	[ASKED_OTHER] = { 0, "other" },
	[ASKED_A] = { TYPE_A, "A" },
	[ASKED_AAAA] = { TYPE_AAAA, "AAAA" },
	[ASKED_CNAME] = { TYPE_CNAME, "CNAME" },
	[ASKED_HTTPS] = { TYPE_HTTPS, "HTTPS" },
	[ASKED_MX] = { TYPE_MX, "MX" },
	[ASKED_NS] = { TYPE_NS, "NS" },
	[ASKED_PTR] = { TYPE_PTR, "PTR" },
	[ASKED_SOA] = { TYPE_SOA, "SOA" },
	[ASKED_SRV] = { TYPE_SRV, "SRV" },
	[ASKED_SVCB] = { TYPE_SVCB, "SVCB" },
	[ASKED_TXT] = { TYPE_TXT, "TXT" },
};

enum status_type
status_type_of(uint16_t type)
{
	/* All of them are small: one load. */
	static const uint8_t places[TYPE_HTTPS + 1] = {
		[TYPE_A] = ASKED_A, [TYPE_AAAA] = ASKED_AAAA,
		[TYPE_CNAME] = ASKED_CNAME, [TYPE_HTTPS] = ASKED_HTTPS,
		[TYPE_MX] = ASKED_MX, [TYPE_NS] = ASKED_NS,
		[TYPE_PTR] = ASKED_PTR, [TYPE_SOA] = ASKED_SOA,
		[TYPE_SRV] = ASKED_SRV, [TYPE_SVCB] = ASKED_SVCB,
		[TYPE_TXT] = ASKED_TXT,
	};

	return type <= TYPE_HTTPS ? (enum status_type)places[type] :
	    ASKED_OTHER;
}

const char *
status_type_text(enum status_type type)
{
	return types[type].text;
}

static void
add_asked(struct status_counters *sum, const struct status_worker *w)
{
	const bool stream = atomic_load_explicit(&w->is_stream,
	    memory_order_relaxed) != 0;

	for (size_t f = 0; f < ASKED_FAMILIES; f++)
		for (size_t t = 0; t < ASKED_TYPES; t++)
			sum->asked[stream][f][t] += atomic_load_explicit(
			    &w->asked[f][t], memory_order_relaxed);
	for (size_t i = 0; i < STATUS_RCODES; i++) {
		sum->refusals[i] += atomic_load_explicit(&w->refusals[i],
		    memory_order_relaxed);
		sum->forwarded_rcodes[i] += atomic_load_explicit(
		    &w->forwarded_rcodes[i], memory_order_relaxed);
	}
	for (size_t i = 0; i < STATUS_SPENT; i++)
		sum->spent[i] += atomic_load_explicit(&w->spent[i],
		    memory_order_relaxed);
	sum->spent_ns += atomic_load_explicit(&w->spent_ns,
	    memory_order_relaxed);
	if (stream)
		sum->received_tcp += atomic_load_explicit(&w->received,
		    memory_order_relaxed);
}

/* A hostile worker may write anything into a slot; sums may wrap. */
static void
add_slot(struct status_counters *sum, const struct status_worker *w,
    uint64_t *gaps)
{
#define LOAD(field) atomic_load_explicit(&w->field, memory_order_relaxed)
	uint64_t generation = LOAD(table_generation);

	sum->received += LOAD(received);
	sum->streams += LOAD(streams);
	for (size_t i = 0; i < STREAM_COUNTERS; i++)
		sum->stream[i] += LOAD(stream[i]);
	for (size_t i = 0; i < FORWARD_COUNTERS; i++)
		sum->forward[i] += LOAD(forward[i]);
	sum->cached += LOAD(reasons[REASON_CACHE]);
	sum->forwarded += LOAD(verdicts[VERDICT_FORWARD]);
	sum->malformed += LOAD(malformed);
	sum->answered += LOAD(verdicts[VERDICT_ANSWER]) +
	    LOAD(verdicts[VERDICT_NODATA]) + LOAD(verdicts[VERDICT_NXDOMAIN]);
	sum->passed += LOAD(verdicts[VERDICT_PASS]);
	sum->refused += LOAD(verdicts[VERDICT_REFUSE]);
	sum->dropped += LOAD(verdicts[VERDICT_DROP]);
	sum->canaries += LOAD(canaries);
	sum->verdict_errors += LOAD(verdict_errors);
	sum->audit_lost += LOAD(audit_lost);
	sum->recorded += LOAD(recorded);
	for (size_t i = 0; i < VERDICTS; i++)
		sum->verdicts[i] += LOAD(verdicts[i]);
	for (size_t i = 0; i < REASONS; i++)
		sum->reasons[i] += LOAD(reasons[i]);
	*gaps += LOAD(id_gaps);
	if (LOAD(thread) != 0 && generation < sum->oldest_generation)
		sum->oldest_generation = generation;
#undef LOAD
}

void
status_counters(const struct status_page *page, struct status_counters *sum)
{
	const struct status_supervisor *s = page->supervisor;
	uint64_t packets, seen, gaps = 0;

	memset(sum, 0, sizeof(*sum));
	sum->oldest_generation = UINT64_MAX;
	/* Read before the slots, so a new packet does not count as "unseen". */
	packets = atomic_load(&s->rule_packets);
	for (size_t i = 0; i < page->worker_slots; i++) {
		add_slot(sum, &page->workers[i], &gaps);
		add_asked(sum, &page->workers[i]);
	}
	/* Over TCP, connections come through the queue, questions do not. */
	seen = sum->received - sum->stream[STREAM_QUESTIONS] + sum->streams;
	sum->unseen = packets > seen ? packets - seen : 0;
	sum->queue_dropped = atomic_load(&s->queue_dropped);
	if (gaps > sum->queue_dropped)
		sum->queue_dropped = gaps;
}

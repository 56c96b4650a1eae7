/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What forwarding shows: policy/status/forward_status.h; and what it logs. */
#include "nfq/worker/main_thread.h"

#include <string.h>

#include "nfq/tls/message.h"
#include "policy/log.h"

#define IDLE_MS		1000	/* queue threads answer from the cache meanwhile */
#define SAY_MS		10000	/* between two lines about one upstream */

static void
put(_Atomic uint64_t *to, uint64_t value)
{
	atomic_store_explicit(to, value, memory_order_relaxed);
}

static uint64_t
get(const _Atomic uint64_t *from)
{
	return atomic_load_explicit(from, memory_order_relaxed);
}

/* A moment of the engine's clock as a time of day. */
static uint64_t
wall_seconds(const struct main_thread *m, monotime_t at)
{
	return monotime_is_set(at) ? (realtime_ns() -
	    (uint64_t)(m->forwarder->boot.ns - at.ns)) / 1000000000 : 0;
}

/* Names and places */

static void
name_upstream(struct status_upstream *shown,
    const struct forward_upstream *upstream)
{
	memset(shown, 0, sizeof(*shown));
	(void)forward_upstream_text(upstream, shown->text);
}

static void
name_domain(struct status_domain *shown, const struct forward_domain *domain)
{
	memset(shown, 0, sizeof(*shown));
	memcpy(shown->name, domain->name, sizeof(shown->name));
	memcpy(shown->upstream, domain->upstream, sizeof(shown->upstream));
	shown->upstreams = domain->upstreams;
}

static void
name_all(struct main_thread *m)
{
	const struct forward_settings *settings = engine_settings(m->forwarder->engine);
	struct status_forwarding *shown = m->page.shown;

	atomic_fetch_or(&shown->sequence, 1);
	atomic_thread_fence(memory_order_seq_cst);
	shown->upstreams = settings->upstreams;
	shown->domains = settings->domains;
	for (uint32_t i = 0; i < settings->upstreams; i++)
		name_upstream(&shown->upstream[i], &settings->upstream[i]);
	for (uint32_t i = 0; i < settings->domains; i++)
		name_domain(&shown->domain[i], &settings->domain[i]);
}

/* Values */

static void
show_upstream(const struct main_thread *m, struct status_upstream *shown,
    const struct upstream *up)
{
	const uint64_t counters[UPSTREAM_COUNTERS] = {
		[UPSTREAM_SENT] = up->sent,
		[UPSTREAM_SENT_TCP] = up->sent_tcp,
		[UPSTREAM_SENT_TLS] = up->sent_tls,
		[UPSTREAM_REPLIES] = up->replies,
		[UPSTREAM_TIMEOUTS] = up->timeouts,
		[UPSTREAM_ERRORS] = up->errors,
		[UPSTREAM_FAILURES] = up->failures,
		[UPSTREAM_MISMATCHED] = up->mismatched,
	};
	const enum status_upstream_state state =
	    up->state == UPSTREAM_LOOPING ? STATUS_UPSTREAM_LOOP :
	    up->state == UPSTREAM_DOWN ? STATUS_UPSTREAM_DOWN :
	    up->lost > 0 ? STATUS_UPSTREAM_PROBING : STATUS_UPSTREAM_UP;

	atomic_store(&shown->state, (uint32_t)state);
	atomic_store(&shown->srtt_us, up->srtt_us);
	put(&shown->since, wall_seconds(m, up->since));
	put(&shown->trouble, up->trouble);
	put(&shown->trouble_at, wall_seconds(m, up->trouble_at));
	for (size_t i = 0; i < UPSTREAM_COUNTERS; i++)
		put(&shown->counters[i], counters[i]);
}

_Static_assert(STATUS_TLS_TEXT == TLS_TEXT, "the page has room for the reason");

/*
 * Why this thread's own probes fail, as long as nobody has had a reply.  Rarely
 * another text: it is written as names are.
 */
static void
show_tls(const struct main_thread *m, uint32_t i, const struct upstream *up)
{
	struct status_forwarding *shown = m->page.shown;
	const char *why = up->state == UPSTREAM_UP && up->lost == 0 ? "" :
	    tcp_upstreams_why(m->forwarder->tcp,
	    &engine_settings(m->forwarder->engine)->upstream[i]);

	if (strcmp(shown->upstream[i].tls, why) == 0)
		return;
	atomic_fetch_or(&shown->sequence, 1);
	atomic_thread_fence(memory_order_seq_cst);
	memset(shown->upstream[i].tls, 0, STATUS_TLS_TEXT);
	memcpy(shown->upstream[i].tls, why, strlen(why));
}

/*
 * What other threads have counted since the last time.  In the moment of a
 * reload a few may count for another domain.
 */
static void
take_domains(struct main_thread *m, uint32_t domains)
{
	struct forward_page *page = &m->page;

	for (unsigned int q = 0; q < page->slot_count; q++)
		for (uint32_t i = 0; i < domains; i++)
			for (size_t n = 0; n < DOMAIN_COUNTERS; n++) {
				const uint64_t now =
				    get(&page->slots[q].domains[i][n]);
				_Atomic uint64_t *to =
				    &(*engine_domain(m->forwarder->engine, i))[n];

				if (n != DOMAIN_WAITING)
					put(to, get(to) + now -
					    page->seen[q][i][n]);
				page->seen[q][i][n] = now;
			}
}

static uint64_t
domain_value(const struct main_thread *m, uint32_t domain, size_t which)
{
	uint64_t sum = get(&(*engine_domain(m->forwarder->engine, domain))[which]);

	for (unsigned int q = 0; which == DOMAIN_WAITING &&
	    q < m->page.slot_count; q++)
		sum += m->page.seen[q][domain][which];
	return sum;
}

/* In the log */

static void
say(const char *text, enum upstream_state state, uint64_t trouble)
{
	char buf[RR_TEXT_SIZE];

	switch (state) {
	case UPSTREAM_UP:
		log_notice("forwarding: upstream %s answers again", text);
		break;
	case UPSTREAM_DOWN:
		log_warning("forwarding: upstream %s is down: %s", text,
		    forward_status_trouble(trouble, buf));
		break;
	case UPSTREAM_LOOPING:
		log_warning("forwarding: upstream %s is switched off: what it "
		    "asks comes back to nfdnsd; make it ask nameservers that "
		    "nfdnsd does not forward to, or bypass its user "
		    "(capture.bypass)", text);
		break;
	}
}

/* One that comes and goes is not logged each time. */
static void
say_change(struct main_thread *m, uint32_t i, const struct upstream *up)
{
	struct forward_page *page = &m->page;
	char text[FORWARD_UPSTREAM_TEXT];

	if (up->state == page->said[i] ||
	    (monotime_is_set(page->said_at[i]) &&
	    monotime_ms_since(m->forwarder->boot, page->said_at[i]) < SAY_MS))
		return;
	page->said[i] = up->state;
	page->said_at[i] = m->forwarder->boot;
	say(forward_upstream_text(&engine_settings(m->forwarder->engine)->upstream[i], text),
	    up->state, up->trouble);
}

void
forward_page_show(struct main_thread *m)
{
	const struct forward_settings *settings = engine_settings(m->forwarder->engine);
	struct forward_page *page = &m->page;
	struct status_forwarding *shown = page->shown;

	page->changed = true;
	if (monotime_ms_since(m->forwarder->boot, page->shown_at) < STATUS_FORWARD_MS)
		return;
	page->changed = false;
	page->shown_at = m->forwarder->boot;
	take_domains(m, settings->domains);
	for (uint32_t i = 0; i < settings->upstreams; i++) {
		const struct upstream *up = engine_upstream(m->forwarder->engine, i);

		say_change(m, i, up);
		show_upstream(m, &shown->upstream[i], up);
		show_tls(m, i, up);
	}
	for (uint32_t i = 0; i < settings->domains; i++)
		for (size_t n = 0; n < DOMAIN_COUNTERS; n++)
			put(&shown->domain[i].counters[n],
			    domain_value(m, i, n));
	/* Names that name_all() has written are complete now. */
	if ((atomic_load_explicit(&shown->sequence,
	    memory_order_relaxed) & 1) != 0)
		atomic_fetch_add(&shown->sequence, 1);
}

monotime_t
forward_page_next(const struct main_thread *m)
{
	return monotime_add_ms(m->page.shown_at,
	    m->page.changed ? STATUS_FORWARD_MS : IDLE_MS);
}

/* Begin and reload */

static void
go_on_upstream(struct upstream *up, const struct status_upstream *before)
{
	up->sent = get(&before->counters[UPSTREAM_SENT]);
	up->sent_tcp = get(&before->counters[UPSTREAM_SENT_TCP]);
	up->sent_tls = get(&before->counters[UPSTREAM_SENT_TLS]);
	up->replies = get(&before->counters[UPSTREAM_REPLIES]);
	up->timeouts = get(&before->counters[UPSTREAM_TIMEOUTS]);
	up->errors = get(&before->counters[UPSTREAM_ERRORS]);
	up->failures = get(&before->counters[UPSTREAM_FAILURES]);
	up->mismatched = get(&before->counters[UPSTREAM_MISMATCHED]);
	up->trouble = get(&before->trouble);
}

/* What stands on the page is of the same settings, if its names are. */
static void
go_on(struct main_thread *m)
{
	const struct forward_settings *settings = engine_settings(m->forwarder->engine);
	const struct status_forwarding *before = m->page.shown;
	char text[FORWARD_UPSTREAM_TEXT];

	for (uint32_t i = 0; i < settings->upstreams; i++)
		if (strncmp(before->upstream[i].text, forward_upstream_text(
		    &settings->upstream[i], text), sizeof(text)) == 0)
			go_on_upstream(engine_upstream(m->forwarder->engine, i),
			    &before->upstream[i]);
	for (uint32_t i = 0; i < settings->domains; i++)
		for (size_t n = 0; n < DOMAIN_COUNTERS; n++)
			if (n != DOMAIN_WAITING && memcmp(
			    before->domain[i].name, settings->domain[i].name,
			    FORWARD_NAME) == 0)
				put(&(*engine_domain(m->forwarder->engine, i))[n],
				    get(&before->domain[i].counters[n]));
}

void
forward_page_begin(struct main_thread *m, const struct status_page *status)
{
	struct forward_page *page = &m->page;

	page->shown = status->forwarding;
	page->slots = status->workers;
	page->slot_count = (unsigned int)status->worker_slots;
	for (unsigned int q = 0; q < page->slot_count; q++)
		for (uint32_t i = 0; i < FORWARD_DOMAINS; i++)
			for (size_t n = 0; n < DOMAIN_COUNTERS; n++)
				page->seen[q][i][n] =
				    get(&page->slots[q].domains[i][n]);
	go_on(m);
	name_all(m);
	m->forwarder->boot = monotime_boot();
	forward_page_show(m);
}

void
forward_page_reload(struct main_thread *m)
{
	name_all(m);
	memset(m->page.said, 0, sizeof(m->page.said));
	memset(m->page.said_at, 0, sizeof(m->page.said_at));
	m->page.shown_at = MONOTIME_NEVER;	/* show them now */
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/ask/upstream.h"

#include <string.h>

#define WAIT_MIN_MS	250
#define WAIT_PRESSED_MS	20
#define WAIT_MAX_MS	1000
#define WAIT_UNKNOWN_MS	400	/* a server on another continent replies in it */
#define TRUNCATED_MOST	8	/* in a row; then TCP ... */
#define TCP_MS		60000	/* ... for so long */
#define FORGED_MS	60000

void
upstream_init(struct upstream *up, monotime_t now,
    const struct forward_health_settings *health)
{
	/* One by one: a thread of settings before the last may look at it yet. */
	up->state = UPSTREAM_UP;
	up->srtt_us = up->lost = up->probe_ms = up->truncated = 0;
	up->since = now;
	up->probe_at = up->tcp_until = up->forged = MONOTIME_NEVER;
	up->mute = false;
	up->loop_open = 0;
	up->loop_at = health->loops ? now : MONOTIME_NEVER;
	up->loop_token = 0;
	up->loop_sent = up->trouble_at = MONOTIME_NEVER;
	up->trouble = 0;
	up->sent = up->replies = up->sent_tcp = up->sent_tls = 0;
	up->losses = up->errors = up->timeouts = up->failures = 0;
	up->mismatched = up->probes = up->loop_probes = 0;
}

void
upstreams_enter(struct upstreams *all, monotime_t now,
    const struct forward_settings *settings,
    const struct forward_settings *before)
{
	bool known[FORWARD_SLOTS] = { false };

	for (uint32_t i = 0; before != NULL && i < before->upstreams; i++)
		known[before->upstream[i].slot] = true;
	for (uint32_t i = 0; i < settings->upstreams; i++)
		if (!known[settings->upstream[i].slot])
			upstream_init(&all->upstream[settings->upstream[i].slot],
			    now, &settings->health);
}

bool
upstream_is_forged(const struct upstream *up, monotime_t now)
{
	return monotime_is_set(up->forged) &&
	    monotime_ms_since(now, up->forged) < FORGED_MS;
}

static void
set_state(struct upstream *up, monotime_t now, enum upstream_state state)
{
	if (up->state != state)
		up->since = now;
	up->state = state;
}

void
upstream_replied(struct upstream *up, monotime_t now, uint32_t rtt_us)
{
	int64_t error = (int64_t)rtt_us - up->srtt_us;

	up->replies++;
	/* Threads share it: only what changes is written. */
	if (up->lost != 0 || monotime_is_set(up->probe_at)) {
		up->lost = 0;
		up->probe_at = MONOTIME_NEVER;
		up->probe_ms = 0;
	}
	if (up->srtt_us == 0)
		up->srtt_us = rtt_us;
	else	/* RFC 6298 section 2.3: alpha is 1/8 */
		up->srtt_us = (uint32_t)(up->srtt_us + error / 8);
	if (up->srtt_us == 0)
		up->srtt_us = 1;
	if (up->state == UPSTREAM_DOWN)
		set_state(up, now, UPSTREAM_UP);
}

void
upstream_udp_answer(struct upstream *up, monotime_t now, bool truncated)
{
	if (up->mute)
		up->mute = false;
	if (!truncated && up->truncated != 0)
		up->truncated = 0;
	else if (truncated && up->truncated < TRUNCATED_MOST)
		up->truncated++;
	if (up->truncated == TRUNCATED_MOST)
		up->tcp_until = monotime_add_ms(now, TCP_MS);
}

void
upstream_tcp_probe_replied(struct upstream *up, monotime_t now)
{
	up->mute = true;
	up->tcp_until = monotime_add_ms(now, TCP_MS);
}

void
upstream_tcp_lost(struct upstream *up)
{
	up->mute = false;
	up->truncated = 0;
	up->tcp_until = MONOTIME_NEVER;
}

bool
upstream_over_tcp(const struct upstream *up, monotime_t now, bool again)
{
	return (again && up->mute) || (monotime_is_set(up->tcp_until) &&
	    !monotime_is_past(now, up->tcp_until));
}

void
upstream_lost(struct upstream *up, monotime_t now,
    const struct forward_health_settings *health)
{
	up->losses++;
	if (up->lost < UINT32_MAX)
		up->lost++;
	if (up->lost > health->losses && up->state == UPSTREAM_UP)
		set_state(up, now, UPSTREAM_DOWN);
	if (!monotime_is_set(up->probe_at)) {
		up->probe_at = now;
		up->probe_ms = health->probe_ms;
	}
}

void
upstream_trouble(struct upstream *up, monotime_t now,
    enum status_trouble trouble, uint32_t code)
{
	up->trouble = forward_trouble(trouble, code);
	up->trouble_at = now;
	up->timeouts += trouble == TROUBLE_TIMEOUT;
	up->errors += trouble == TROUBLE_NETWORK;
	up->failures += trouble == TROUBLE_RCODE || trouble == TROUBLE_LAME ||
	    trouble == TROUBLE_MALFORMED;
}

void
upstream_probed(struct upstream *up, monotime_t now,
    const struct forward_health_settings *health)
{
	up->probes++;
	up->probe_at = monotime_add_ms(now, up->probe_ms);
	up->probe_ms = up->probe_ms > health->probe_max_ms / 2 ?
	    health->probe_max_ms : up->probe_ms * 2;
}

void
upstream_loop_probing(struct upstream *up, monotime_t now, uint64_t token)
{
	up->loop_open = 0;
	up->loop_at = MONOTIME_NEVER;
	up->loop_sent = now;
	up->loop_token = token;
}

void
upstream_loop_probed(struct upstream *up, monotime_t now, uint32_t sent,
    const struct forward_health_settings *health)
{
	up->loop_probes += sent;
	up->loop_open = sent;
	/* If none could be sent, a loop that was there is there yet. */
	if (sent == 0 && up->state == UPSTREAM_LOOPING)
		up->loop_at = monotime_add_ms(now,
		    (int64_t)health->loop_retry_s * 1000);
}

void
upstream_loop_over(struct upstream *up, monotime_t now)
{
	if (up->loop_open > 0)
		up->loop_open--;
	if (up->loop_open > 0 || up->state != UPSTREAM_LOOPING ||
	    monotime_is_set(up->loop_at))
		return;
	up->lost = 0;
	set_state(up, now, UPSTREAM_UP);
}

void
upstream_looped(struct upstream *up, monotime_t now,
    const struct forward_health_settings *health)
{
	/* First: until then upstream_loop_over() takes it for one that is gone. */
	up->loop_at = monotime_add_ms(now, (int64_t)health->loop_retry_s * 1000);
	set_state(up, now, UPSTREAM_LOOPING);
	upstream_trouble(up, now, TROUBLE_LOOP, 0);
	up->probe_at = MONOTIME_NEVER;
}

uint32_t
upstream_wait_ms(const struct upstream *up,
    const struct forward_attempt_settings *attempts, bool pressed)
{
	uint64_t wait = (uint64_t)up->srtt_us * 3 / 1000;

	if (attempts->wait_ms != 0)
		return attempts->wait_ms;
	if (pressed)
		return WAIT_PRESSED_MS;
	if (up->srtt_us == 0)
		return WAIT_UNKNOWN_MS;
	return wait < WAIT_MIN_MS ? WAIT_MIN_MS :
	    wait > WAIT_MAX_MS ? WAIT_MAX_MS : (uint32_t)wait;
}

/* Turns the servers by "by" places. */
static void
rotate(uint32_t *order, uint32_t n, uint32_t by)
{
	uint32_t old[FORWARD_PER_DOMAIN];

	memcpy(old, order, n * sizeof(*order));
	for (uint32_t i = 0; i < n; i++)
		order[i] = old[(i + by) % n];
}

static void
shuffle(uint32_t *order, uint32_t n, uint64_t random)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = (uint32_t)(random % i), swap = order[i - 1];

		order[i - 1] = order[j];
		order[j] = swap;
		random /= i;
	}
}

/*
 * Smaller is asked earlier: those that are up before those whose last attempt
 * was lost (they are being probed) before those that are down; then, if speed
 * counts, unknown ones, and the fastest.
 */
static uint64_t
rank(const struct upstream *up, enum forward_select select)
{
	uint64_t class = up->state == UPSTREAM_DOWN ? 2 : up->lost > 0;

	return class << 32 | (select == SELECT_FASTEST ? up->srtt_us : 0);
}

/* A stable sort: equal ones stay in the order that they are given in. */
static void
sort(uint32_t *order, uint32_t n, const struct upstream *all,
    enum forward_select select)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t moved = order[i], j = i;
		uint64_t own = rank(&all[moved], select);

		for (; j > 0 && rank(&all[order[j - 1]], select) > own; j--)
			order[j] = order[j - 1];
		order[j] = moved;
	}
}

uint32_t
upstream_order(const struct forward_settings *settings,
    const struct forward_domain *domain, const struct upstream *all,
    uint32_t turn, uint64_t random,
    uint32_t order[static FORWARD_PER_DOMAIN])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < domain->upstreams; i++) {
		const uint32_t slot =
		    settings->upstream[domain->upstream[i]].slot;

		if (all[slot].state != UPSTREAM_LOOPING)
			order[n++] = slot;
	}
	if (n > 1 && domain->select == SELECT_ROUND_ROBIN)
		rotate(order, n, turn % n);
	if (domain->select == SELECT_RANDOM)
		shuffle(order, n, random);
	sort(order, n, all, domain->select);
	return n;
}

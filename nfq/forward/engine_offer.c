/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Upstreams that queue threads may ask without the engine: express.h. */
#include "nfq/forward/engine_state.h"

#define SRTT_MOST_US	20000	/* below EXPRESS_WAIT_MS */
#define WAIT_LEAST_MS	250	/* of a question, before another server is asked */

/* Whether one attempt over UDP is what the engine would begin with. */
static bool
is_simple(const struct engine *e, monotime_t now, uint32_t upstream)
{
	const struct forward_upstream *to = &e->settings.upstream[upstream];
	const struct upstream *up = &e->upstream[upstream];

	return (to->transport == FORWARD_AUTO ||
	    to->transport == FORWARD_UDP) && !to->mix_case &&
	    !upstream_is_forged(up, now) && up->state == UPSTREAM_UP && up->lost == 0 && up->srtt_us != 0 &&
	    up->srtt_us <= SRTT_MOST_US && (to->transport == FORWARD_UDP ||
	    !upstream_over_tcp(up, now, false));
}

static bool
has_one_choice(const struct forward_domain *domain)
{
	return domain->upstreams == 1 || domain->select == SELECT_FASTEST ||
	    domain->select == SELECT_ORDERED;
}

int
engine_offer(struct engine *e, monotime_t now, uint32_t domain)
{
	const struct forward_attempt_settings *attempts =
	    &e->settings.attempts;
	const struct forward_domain *d = &e->settings.domain[domain];
	uint32_t order[FORWARD_PER_DOMAIN];

	e->offered[domain] = false;
	if (domain >= e->settings.domains || !has_one_choice(d) ||
	    (attempts->wait_ms != 0 &&
	    attempts->wait_ms < WAIT_LEAST_MS) ||
	    attempts->budget_ms < 2 * WAIT_LEAST_MS ||
	    upstream_order(d, e->upstream, 0, 0, order) == 0 ||
	    !is_simple(e, now, order[0]))
		return -1;
	e->offered[domain] = true;
	return (int)order[0];
}

void
engine_offer_replied(struct engine *e, monotime_t now, uint32_t upstream,
    uint64_t sent, uint64_t replies, uint32_t rtt_us)
{
	struct upstream *up = &e->upstream[upstream];

	up->sent += sent;
	if (replies == 0)
		return;
	up->replies += replies;
	if (rtt_us == 0)
		return;
	upstream_udp_answer(up, now, false);
	upstream_replied(up, now, rtt_us);
	up->replies--;			/* it has counted one of them */
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whom a connection's questions are relayed to: the nameserver that the client
 * addressed, or the upstreams of a forward domain, in their order.  What the
 * forwarding thread knows of them is not known here: one that is not reached, or
 * does not answer in time, is followed by the next.  Domains with an upstream that is
 * not asked over plain TCP are for errand.c: nothing is asked in clear text because the
 * relay speaks no TLS.
 */
#include "nfq/stream/parts.h"

static bool
is_plain(const struct forward_upstream *up)
{
	return up->transport != FORWARD_TLS && up->transport != FORWARD_UDP;
}

uint32_t
stream_target_domain(const struct stream *s, const struct dns_name *name)
{
	const struct forward_settings *f =
	    &s->thread.generation->settings.forward;
	const int domain = s->options->forward ?
	    forward_settings_domain(f, name) : -1;

	return domain < 0 ? FORWARD_DOMAINS : (uint32_t)domain;
}

void
stream_target_init(struct stream_connection *c)
{
	c->target.domain = FORWARD_DOMAINS;
}

bool
stream_target_is(const struct stream *s, const struct stream_connection *c,
    uint32_t domain)
{
	return c->target.domain == domain && (domain == FORWARD_DOMAINS ||
	    c->target.generation == s->thread.generation->number);
}

static bool
are_plain(const struct forward_settings *f, uint32_t domain)
{
	const struct forward_domain *d = &f->domain[domain];

	for (uint32_t i = 0; i < d->upstreams; i++)
		if (!is_plain(&f->upstream[d->upstream[i]]))
			return false;
	return true;
}

/* The domain of all names; FORWARD_DOMAINS: there is none. */
static uint32_t
default_domain(const struct stream *s)
{
	const struct dns_name root = { .length = 1 };

	return stream_target_domain(s, &root);
}

bool
stream_target_is_plain(const struct stream *s, uint32_t domain)
{
	const struct forward_settings *f =
	    &s->thread.generation->settings.forward;
	const uint32_t next = f->domain[domain].fallback == FALLBACK_DEFAULT ?
	    default_domain(s) : FORWARD_DOMAINS;

	return are_plain(f, domain) &&
	    (next == FORWARD_DOMAINS || are_plain(f, next));
}

enum forward_full
stream_target_full(const struct stream *s, uint32_t domain)
{
	return (enum forward_full)s->thread.generation->settings.forward.
	    domain[domain].full;
}

static bool
take_place(const struct stream *s, struct stream_connection *c, uint32_t place)
{
	const struct forward_settings *f =
	    &s->thread.generation->settings.forward;
	const struct forward_domain *domain = &f->domain[c->target.domain];
	const struct forward_upstream *up;

	if (place >= domain->upstreams)
		return false;
	up = &f->upstream[domain->upstream[place]];
	(void)sockets_address_make(&c->target.address, (int)up->family,
	    up->address, (uint16_t)up->port, up->scope);
	c->target.place = place;
	return true;
}

bool
stream_target_set(const struct stream *s, struct stream_connection *c,
    uint32_t domain)
{
	stream_target_init(c);
	c->target.domain = domain;
	c->target.generation = s->thread.generation->number;
	return domain == FORWARD_DOMAINS ||
	    (stream_target_is_plain(s, domain) && take_place(s, c, 0));
}

/* Turns to whom the domain falls back on. */
static bool
fall_back(const struct stream *s, struct stream_connection *c)
{
	const struct forward_settings *f =
	    &s->thread.generation->settings.forward;
	const uint32_t fallback = f->domain[c->target.domain].fallback;
	uint32_t next = FORWARD_DOMAINS;

	if (fallback == FALLBACK_DEFAULT)
		next = default_domain(s);
	if (fallback == FALLBACK_NONE || next == c->target.domain ||
	    (fallback == FALLBACK_DEFAULT && next == FORWARD_DOMAINS))
		return false;
	return stream_target_set(s, c, next);
}

bool
stream_target_next(const struct stream *s, struct stream_connection *c)
{
	if (c->target.domain == FORWARD_DOMAINS ||
	    c->target.generation != s->thread.generation->number)
		return false;
	return take_place(s, c, c->target.place + 1) || fall_back(s, c);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/forward_settings.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "resolver/dns/message.h"
#include "resolver/dns/rr.h"

#define DAY_S	86400
#define TLS_PORT	853	/* RFC 7858 section 3.1 */

void
forward_settings_defaults(struct forward_settings *settings)
{
	memset(settings, 0, sizeof(*settings));
	settings->chase = 1;
	settings->cache = (struct forward_cache_settings){
		.size = 10000, .max_ttl_s = DAY_S, .negative = 1,
		.failure_s = 5, .stale = STALE_AFTER_WAIT, .stale_s = DAY_S,
		.stale_ttl_s = 30, .stale_wait_ms = 1800,
		.stale_retry_s = 5, .stale_retry_max_s = 30,
		.prefetch = 10, .prefetch_hits = 2,
	};
	settings->attempts = (struct forward_attempt_settings){
		.per_server = 2, .budget_ms = 4000, .explore = 5, .join = 1,
		.failure_rcodes = 1U << RCODE_FORMERR | 1U << RCODE_SERVFAIL |
		    1U << RCODE_NOTIMP | 1U << RCODE_REFUSED,
	};
	settings->health = (struct forward_health_settings){
		.losses = 2, .probe_ms = 1000, .probe_max_ms = 30000,
		.probe_wait_ms = 1000, .probe_rd = 1, .loops = 1,
		.loop_retry_s = 60,
	};
	settings->limits = (struct forward_limits){
		.held = 1024, .domain = 1024,
	};
}

static size_t
zone_length(const uint8_t zone[static FORWARD_NAME])
{
	size_t length = 0;

	while (length < NAME_MAX_OCTETS && zone[length] != 0)
		length += 1U + zone[length];
	return length + 1;
}

/* Whether a name's label begins there. */
static bool
is_label_start(const struct dns_name *name, size_t offset)
{
	size_t at = 0;

	while (at < offset)
		at += 1U + name->octets[at];
	return at == offset;
}

int
forward_settings_domain(const struct forward_settings *settings,
    const struct dns_name *name)
{
	size_t longest = 0;
	int found = -1;

	for (uint32_t i = 0; i < settings->domains; i++) {
		const uint8_t *zone = settings->domain[i].name;
		size_t length = zone_length(zone);

		if (length <= longest || length > name->length ||
		    memcmp(name->octets + name->length - length, zone,
		    length) != 0 ||
		    !is_label_start(name, name->length - length))
			continue;
		longest = length;
		found = (int)i;
	}
	return found;
}

static const struct forward_upstream *
same_of(const struct forward_settings *settings,
    const struct forward_upstream *upstream)
{
	for (uint32_t i = 0; settings != NULL && i < settings->upstreams; i++)
		if (forward_upstream_same(&settings->upstream[i], upstream))
			return &settings->upstream[i];
	return NULL;
}

void
forward_settings_place(struct forward_settings *s,
    const struct forward_settings *before)
{
	bool taken[FORWARD_SLOTS] = { false };
	uint32_t slot = 0;

	for (uint32_t i = 0; before != NULL && i < before->upstreams; i++)
		taken[before->upstream[i].slot] = true;
	for (uint32_t i = 0; i < s->upstreams; i++) {
		const struct forward_upstream *same =
		    same_of(before, &s->upstream[i]);

		while (same == NULL && taken[slot])
			slot++;
		s->upstream[i].slot = same != NULL ? same->slot : slot++;
	}
}

bool
forward_upstream_same(const struct forward_upstream *a,
    const struct forward_upstream *b)
{
	size_t octets = a->family == AF_INET ? 4 : 16;

	return a->family == b->family && a->scope == b->scope &&
	    a->port == b->port && a->transport == b->transport &&
	    memcmp(a->address, b->address, octets) == 0 &&
	    strcmp(a->tls_name, b->tls_name) == 0;
}

const char *
forward_upstream_text(const struct forward_upstream *up,
    char text[static FORWARD_UPSTREAM_TEXT])
{
	static const char *const schemes[FORWARD_TRANSPORTS] = {
		[FORWARD_AUTO] = "", [FORWARD_UDP] = "udp://",
		[FORWARD_TCP] = "tcp://", [FORWARD_TLS] = "tls://",
	};
	const bool tls = up->transport == FORWARD_TLS;
	char address[INET6_ADDRSTRLEN] = "", scope[16] = "", port[16] = "";

	(void)inet_ntop((int)up->family, up->address, address,
	    sizeof(address));
	if (up->scope != 0)
		(void)snprintf(scope, sizeof(scope), "%%%u", up->scope);
	if (up->port != (tls ? TLS_PORT : DNS_PORT))
		(void)snprintf(port, sizeof(port), "@%u", up->port);
	(void)snprintf(text, FORWARD_UPSTREAM_TEXT, "%s%s%s%s%s%.*s",
	    schemes[up->transport], address, scope, port,
	    up->tls_name[0] != '\0' ? "#" : "", FORWARD_NAME - 1,
	    up->tls_name);
	return text;
}

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

/* Bounds of values, so that sums of them stay far from overflow. */
#define MS_MAX	(3600 * 1000)
#define S_MAX	(7 * DAY_S)

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
		.held = 8192, .user = 2048, .domain = 8192,
	};
	settings->tls.idle_s = 20;
}

/* A wire name that ends within its array; lower case if it is a domain's. */
static bool
name_ok(const uint8_t octets[static FORWARD_NAME], bool lower)
{
	struct dns_name name;

	return name_read_lower(&name, octets, FORWARD_NAME) == 0 &&
	    (!lower || memcmp(name.octets, octets, name.length) == 0);
}

static const char *
check_upstreams(const struct forward_settings *settings)
{
	if (settings->upstreams > FORWARD_UPSTREAMS)
		return "too many upstreams";
	for (uint32_t i = 0; i < settings->upstreams; i++) {
		const struct forward_upstream *up = &settings->upstream[i];

		if (up->family != AF_INET && up->family != AF_INET6)
			return "an upstream's family is neither IPv4 nor IPv6";
		if (up->port == 0 || up->port > 65535)
			return "an upstream's port is out of range";
		if (up->transport >= FORWARD_TRANSPORTS || up->mix_case > 1)
			return "an upstream's transport is unknown";
		if (memchr(up->tls_name, '\0', sizeof(up->tls_name)) == NULL)
			return "an upstream's TLS name has no end";
	}
	return NULL;
}

static const char *
check_domains(const struct forward_settings *settings)
{
	if (settings->domains > FORWARD_DOMAINS)
		return "too many domains";
	for (uint32_t i = 0; i < settings->domains; i++) {
		const struct forward_domain *domain = &settings->domain[i];

		if (!name_ok(domain->name, true))
			return "a domain's name is malformed";
		if (domain->upstreams > FORWARD_PER_DOMAIN)
			return "a domain has too many upstreams";
		for (uint32_t j = 0; j < domain->upstreams; j++)
			if (domain->upstream[j] >= settings->upstreams)
				return "a domain's upstream does not exist";
		if (domain->select >= SELECT_WAYS ||
		    domain->fallback >= FALLBACKS ||
		    domain->full >= FULL_WAYS || domain->cache > 1 ||
		    domain->negative_max_s > S_MAX)
			return "a domain's setting is out of range";
	}
	return NULL;
}

static const char *
check_cache(const struct forward_cache_settings *cache)
{
	if (cache->min_ttl_s > S_MAX || cache->failure_s > S_MAX ||
	    cache->stale_s > S_MAX || cache->stale_ttl_s > S_MAX ||
	    cache->stale_retry_s > S_MAX || cache->stale_retry_max_s > S_MAX ||
	    cache->max_ttl_s > INT32_MAX)
		return "a time of the cache is out of range";
	if (cache->negative > 1 || cache->stale >= STALE_WAYS ||
	    cache->stale_wait_ms > MS_MAX || cache->prefetch > 100)
		return "a setting of the cache is out of range";
	return NULL;
}

static const char *
check_attempts(const struct forward_attempt_settings *attempts)
{
	if (attempts->per_server == 0 || attempts->per_server > 16 ||
	    attempts->most > 16)
		return "the number of attempts is out of range";
	if (attempts->wait_ms > MS_MAX || attempts->budget_ms > MS_MAX ||
	    attempts->budget_ms == 0 || attempts->explore > 100 ||
	    attempts->failure_rcodes > UINT16_MAX ||
	    attempts->failure_nodata > 1 || attempts->join > 1 ||
	    attempts->pass_ad > 1 || attempts->fresh_ports > 1)
		return "a setting of attempts is out of range";
	return NULL;
}

static const char *
check_health(const struct forward_health_settings *health)
{
	if (health->losses > 1000 || health->probe_ms == 0 ||
	    health->probe_ms > MS_MAX ||
	    health->probe_max_ms < health->probe_ms ||
	    health->probe_max_ms > MS_MAX || health->probe_wait_ms == 0 ||
	    health->probe_wait_ms > MS_MAX || health->probe_rd > 1 ||
	    health->fail_fast > 1 || health->loops > 1 ||
	    health->loop_retry_s == 0 || health->loop_retry_s > S_MAX)
		return "a setting of health is out of range";
	return name_ok(health->probe_name, true) ? NULL :
	    "the name of health probes is malformed";
}

static const char *
check_checks(const struct forward_settings *settings)
{
	if (settings->checks > FORWARD_CHECKS)
		return "too many probes";
	for (uint32_t i = 0; i < settings->checks; i++) {
		const struct forward_check *check = &settings->check[i];

		if (memchr(check->label, '\0', sizeof(check->label)) == NULL)
			return "a probe's label has no end";
		if (check->upstream >= settings->upstreams)
			return "a probe's server does not exist";
		if (!name_ok(check->name, false))
			return "a probe's name is malformed";
		if (check->type > UINT16_MAX || check->interval_s == 0 ||
		    check->interval_s > DAY_S)
			return "a probe's setting is out of range";
	}
	return NULL;
}

const char *
forward_settings_check(const struct forward_settings *settings)
{
	const struct forward_limits *limits = &settings->limits;
	const char *wrong = check_upstreams(settings);

	if (wrong == NULL)
		wrong = check_domains(settings);
	if (wrong == NULL)
		wrong = check_checks(settings);
	if (wrong == NULL)
		wrong = check_cache(&settings->cache);
	if (wrong == NULL)
		wrong = check_attempts(&settings->attempts);
	if (wrong == NULL)
		wrong = check_health(&settings->health);
	if (wrong == NULL && (limits->held == 0 || limits->held > 65536 ||
	    limits->user == 0 || limits->domain == 0))
		wrong = "a limit of forwarding is out of range";
	if (wrong == NULL && (settings->tls.idle_s == 0 ||
	    settings->tls.idle_s > S_MAX))
		wrong = "forward.tls.idle is out of range";
	if (wrong == NULL && settings->chase > 1)
		wrong = "forward.chase is out of range";
	return wrong;
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

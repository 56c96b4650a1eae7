/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/forward_settings.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "resolver/dns/message.h"
#include "resolver/dns/rr.h"
#include "policy/config/setting.h"
#include "resolver/dns/name.h"
#include "resolver/text/host.h"

static const struct scheme {
	const char *text;
	enum forward_transport transport;
	uint16_t port;
} schemes[] = {
	{ "udp://", FORWARD_UDP, DNS_PORT },
	{ "tcp://", FORWARD_TCP, DNS_PORT },
	{ "tls://", FORWARD_TLS, UPSTREAM_TLS_PORT },
	{ "", FORWARD_AUTO, DNS_PORT },
};

static const struct scheme *
scheme_of(const char *text)
{
	const struct scheme *s = schemes;

	while (strncmp(text, s->text, strlen(s->text)) != 0)
		s++;
	return s;
}

/* Splits off "@PORT" at the end.  False: there is one, but it is none. */
static bool
split_port(char *text, uint32_t *port)
{
	char *at = strchr(text, '@');

	if (at == NULL)
		return true;
	*at = '\0';
	return at[1] != '0' && config_number_from_text(at + 1, port) &&
	    *port <= UINT16_MAX;
}

/*
 * Splits off "%INTERFACE", which a link-local address needs.  False: that cannot be
 * an interface's name (dev_valid_name() in net/core/dev.c).
 */
static bool
split_scope(char *text, struct forward_upstream *upstream, bool *absent)
{
	char *percent = strchr(text, '%');

	*absent = false;
	if (percent == NULL)
		return true;
	*percent++ = '\0';
	upstream->scope = if_nametoindex(percent);
	*absent = upstream->scope == 0;
	return percent[0] != '\0' && strlen(percent) < IF_NAMESIZE &&
	    strpbrk(percent, "/: \t") == NULL;
}

/* Takes brackets off, which only IPv6 may have.  NULL: one is missing. */
static char *
without_brackets(char *text)
{
	const size_t length = strlen(text);

	if (text[0] != '[')
		return text;
	if (length < 2 || text[length - 1] != ']' || strchr(text, ':') == NULL)
		return NULL;
	text[length - 1] = '\0';
	return text + 1;
}

/* Takes "#NAME" off, into the upstream.  NULL, or what is wrong with it. */
static const char *
split_name(char *text, struct forward_upstream *upstream)
{
	char *hash = strchr(text, '#');
	uint8_t address[16];
	struct dns_name name;
	size_t length;

	if (hash == NULL)
		return NULL;
	*hash++ = '\0';
	length = strlen(hash);
	if (upstream->transport != FORWARD_TLS)
		return "a name behind # is for tls:// only";
	if (length == 0)
		return "no name follows #: write the one that the certificate "
		    "is for, or leave # out if that is the address";
	if (host_address(hash, address) != AF_UNSPEC)
		return "an address follows #: leave it out, and the "
		    "certificate has to be for the upstream's address";
	if (hash[length - 1] == '.')
		hash[--length] = '\0';	/* certificates have none */
	if (length >= FORWARD_NAME ||
	    strspn(hash, HOST_CHARACTERS) != length ||
	    name_from_text(&name, hash, length) < 0 || name.labels == 0)
		return "what follows # is not a valid host name";
	memcpy(upstream->tls_name, hash, length + 1);
	return NULL;
}

bool
upstream_from_text(struct forward_upstream *upstream, const char *text,
    const char **why)
{
	const struct scheme *scheme = scheme_of(text);
	char copy[FORWARD_UPSTREAM_TEXT], *address;
	bool absent;

	*why = NULL;
	memset(upstream, 0, sizeof(*upstream));
	upstream->transport = scheme->transport;
	upstream->port = scheme->port;
	text += strlen(scheme->text);
	if (strlen(text) >= sizeof(copy))
		return false;
	memcpy(copy, text, strlen(text) + 1);
	*why = split_name(copy, upstream);
	if (*why != NULL)
		return false;
	if (scheme->transport == FORWARD_TLS)
		*why = "the address, or the port behind @, is malformed: "
		    "tls://[2001:db8::53]@853#dns.example";
	if (!split_port(copy, &upstream->port))
		return false;
	address = without_brackets(copy);
	if (address == NULL || !split_scope(address, upstream, &absent))
		return false;
	*why = NULL;
	upstream->family = (uint32_t)host_address(address, upstream->address);
	if (upstream->family != 0 && absent)
		*why = "there is no interface of that name on this machine: a "
		    "link-local address is not asked until there is one";
	if (upstream->family == 0 && scheme->transport == FORWARD_TLS)
		*why = "an address has to follow tls://; the name comes behind "
		    "it: tls://192.0.2.53#dns.example";
	return upstream->family != 0;
}

#define DAY_S	86400

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
	const struct scheme *s = schemes;
	char address[INET6_ADDRSTRLEN] = "", scope[16] = "", port[16] = "";

	while (s->transport != up->transport)
		s++;
	(void)inet_ntop((int)up->family, up->address, address,
	    sizeof(address));
	if (up->scope != 0)
		(void)snprintf(scope, sizeof(scope), "%%%u", up->scope);
	if (up->port != s->port)
		(void)snprintf(port, sizeof(port), "@%u", up->port);
	(void)snprintf(text, FORWARD_UPSTREAM_TEXT, "%s%s%s%s%s%.*s",
	    s->text, address, scope, port,
	    up->tls_name[0] != '\0' ? "#" : "", FORWARD_NAME - 1,
	    up->tls_name);
	return text;
}

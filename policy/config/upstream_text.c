/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/forward_settings.h"

#include <net/if.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/config/setting.h"
#include "resolver/dns/message.h"
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

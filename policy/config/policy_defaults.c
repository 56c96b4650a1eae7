/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/policy_defaults.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/config/setting.h"

/* One rule.  Names are written as in the option "names". */
struct default_rule {
	const char *name;
	size_t option;			/* offset of its switch */
	enum rule_action action;
	uint32_t source;		/* RULE_OTHER, RULE_ABSENT */
	const char *const *names;
};

static const char *const application_dns[] = { "use-application-dns.net", NULL };
/* RFC 9462 section 4: the domain is the resolver's own. */
static const char *const resolver_arpa[] = { ".resolver.arpa", NULL };
static const char *const localhost[] = { ".localhost", NULL };
static const char *const localhost_reverse[] = {
	"1.0.0.127.in-addr.arpa",
	"1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa",
	NULL
};
static const char *const onion[] = { ".onion", NULL };
static const char *const invalid[] = { ".invalid", NULL };
static const char *const test[] = { ".test", NULL };
static const char *const wpad[] = { "wpad", NULL };

/*
 * Below each zone, not its apex: that it does not exist would say so of all the
 * names below it (RFC 8020), those of the table too.
 */
static const char *const private_reverse[] = {
	/* RFC 1918, with 172.16.0.0/12 */
	"*.10.in-addr.arpa", "*.168.192.in-addr.arpa",
	"*.16.172.in-addr.arpa", "*.17.172.in-addr.arpa",
	"*.18.172.in-addr.arpa", "*.19.172.in-addr.arpa",
	"*.20.172.in-addr.arpa", "*.21.172.in-addr.arpa",
	"*.22.172.in-addr.arpa", "*.23.172.in-addr.arpa",
	"*.24.172.in-addr.arpa", "*.25.172.in-addr.arpa",
	"*.26.172.in-addr.arpa", "*.27.172.in-addr.arpa",
	"*.28.172.in-addr.arpa", "*.29.172.in-addr.arpa",
	"*.30.172.in-addr.arpa", "*.31.172.in-addr.arpa",
	/* RFC 6303 section 4.2 */
	"*.0.in-addr.arpa", "*.127.in-addr.arpa", "*.254.169.in-addr.arpa",
	"*.2.0.192.in-addr.arpa", "*.100.51.198.in-addr.arpa",
	"*.113.0.203.in-addr.arpa", "255.255.255.255.in-addr.arpa",
	/* Sections 4.3 to 4.6: unspecified, unique local, link-local, examples */
	"0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa",
	"*.d.f.ip6.arpa", "*.8.e.f.ip6.arpa", "*.9.e.f.ip6.arpa",
	"*.a.e.f.ip6.arpa", "*.b.e.f.ip6.arpa",
	"*.8.b.d.0.1.0.0.2.ip6.arpa", NULL
};

/* RFC 8375 section 4 and RFC 6762 section 22.1. */
static const char *const private_names[] = { "*.home.arpa", "*.local", NULL };

#define SWITCH(member)	offsetof(struct policy_defaults, member)

static const struct default_rule default_rules[] = {
	{ "application-dns", SWITCH(application_dns),
	  RULE_NXDOMAIN, RULE_OTHER, application_dns },
	{ "resolver-arpa", SWITCH(resolver_arpa),
	  RULE_NODATA, RULE_OTHER, resolver_arpa },
	{ "localhost", SWITCH(localhost),
	  RULE_ADDRESSES, RULE_OTHER, localhost },
	{ "localhost-reverse", SWITCH(localhost),
	  RULE_POINTER, RULE_OTHER, localhost_reverse },
	{ "onion", SWITCH(onion),
	  RULE_NXDOMAIN, RULE_ABSENT, onion },
	{ "invalid", SWITCH(invalid),
	  RULE_NXDOMAIN, RULE_ABSENT, invalid },
	{ "test", SWITCH(test),
	  RULE_NXDOMAIN, RULE_ABSENT, test },
	{ "wpad", SWITCH(wpad),
	  RULE_NXDOMAIN, RULE_OTHER, wpad },
	{ "private-reverse", SWITCH(private_reverse),
	  RULE_NXDOMAIN, RULE_ABSENT, private_reverse },
	{ "private-names", SWITCH(private_reverse),
	  RULE_NXDOMAIN, RULE_ABSENT, private_names },
};

/* The next name of a span, the last of the policy's; NULL: no memory. */
static struct policy_name *
append_name(const struct config_load *load, struct policy_span *span)
{
	struct policy *policy = &load->config->policy;
	struct policy_name *grown = config_append(load, policy->names,
	    &policy->name_count, sizeof(*grown));

	if (grown == NULL)
		return NULL;
	policy->names = grown;
	if (span->count++ == 0)
		span->first = (uint32_t)policy->name_count - 1;
	return &grown[policy->name_count - 1];
}

/* A name as the option "names" has it. */
static void
add_text(const struct config_load *load, struct policy_span *span,
    const char *text)
{
	struct policy_name *name = append_name(load, span);

	if (name == NULL)
		return;
	name->kind = text[0] == '*' ? POLICY_BELOW : text[0] == '.' ?
	    POLICY_WITHIN : POLICY_EXACT;
	text += name->kind == POLICY_BELOW ? 2 : name->kind == POLICY_WITHIN;
	if (name_from_text(&name->name, text, strlen(text)) == 0)
		name_lower(&name->name);
}

/* RFC 7793: the zones of 100.64.0.0/10. */
static void
add_shared(const struct config_load *load, struct policy_span *span)
{
	char text[32];

	for (unsigned int i = 64; i < 128; i++) {
		(void)snprintf(text, sizeof(text), "*.%u.100.in-addr.arpa", i);
		add_text(load, span, text);
	}
}

/* A browser asks for "wpad" in each domain of the search list. */
static void
add_searched(const struct config_load *load, struct policy_span *span)
{
	static const struct dns_name label = { .length = 6, .labels = 1,
		.octets = "\004wpad" };
	const struct mesh *mesh = &load->config->mesh;

	for (size_t i = 0; i < mesh->search_count; i++) {
		struct dns_name joined;
		struct policy_name *name;

		if (name_join(&joined, &label, &mesh->search[i]) < 0)
			continue;
		name_lower(&joined);
		name = append_name(load, span);
		if (name != NULL)
			*name = (struct policy_name){ .kind = POLICY_EXACT,
				.name = joined };
	}
}

/* Whether the operator's domain is one of the names, or lies below one. */
static bool
is_among(const struct policy *policy, const struct policy_span *names,
    const struct dns_name *domain)
{
	for (uint32_t i = 0; i < names->count; i++)
		if (name_is_within(domain,
		    &policy->names[names->first + i].name))
			return true;
	return false;
}

static void
except(const struct config_load *load, struct policy_rule *rule,
    const struct dns_name *domain)
{
	struct policy_name *name;

	if (!is_among(&load->config->policy, &rule->match.names, domain))
		return;
	name = append_name(load, &rule->not.names);
	if (name != NULL)
		*name = (struct policy_name){ .kind = POLICY_WITHIN,
			.name = *domain };
}

/* What the operator says of domains goes before. */
static void
except_domains(const struct config_load *load, struct policy_rule *rule)
{
	const struct mesh *mesh = &load->config->mesh;
	const struct forward_settings *forward = &load->config->forward;

	if (mesh->domain.length > 0)
		except(load, rule, &mesh->domain);
	for (size_t i = 0; i < mesh->search_count; i++)
		except(load, rule, &mesh->search[i]);
	for (size_t i = 0; i < mesh->zone_count; i++)
		except(load, rule, &mesh->zones[i].name);
	for (uint32_t i = 0; i < forward->domains; i++) {
		struct dns_name domain;

		if (name_read_lower(&domain, forward->domain[i].name,
		    sizeof(forward->domain[i].name)) == 0)
			except(load, rule, &domain);
	}
}

static void
add_address(const struct config_load *load, struct policy_rule *rule,
    uint8_t family, const void *octets, size_t length)
{
	struct policy *policy = &load->config->policy;
	struct policy_address *grown = config_append(load, policy->addresses,
	    &policy->address_count, sizeof(*grown));

	if (grown == NULL)
		return;
	policy->addresses = grown;
	grown += policy->address_count - 1;
	grown->family = family;
	memcpy(grown->address, octets, length);
	if (rule->addresses.count++ == 0)
		rule->addresses.first = (uint32_t)policy->address_count - 1;
}

static void
add_answer(const struct config_load *load, struct policy_rule *rule)
{
	static const uint8_t loopback[] = { 127, 0, 0, 1 };

	if (rule->action == RULE_ADDRESSES) {
		add_address(load, rule, AF_INET, loopback, sizeof(loopback));
		add_address(load, rule, AF_INET6, &in6addr_loopback,
		    sizeof(in6addr_loopback));
	} else if (rule->action == RULE_POINTER) {
		rule->cname = (struct dns_name){ .length = 11, .labels = 1,
			.octets = "\011localhost" };
	}
}

static void
fill(const struct config_load *load, const struct default_rule *from,
    struct policy_rule *rule)
{
	(void)snprintf(rule->name, sizeof(rule->name), "default:%s",
	    from->name);
	rule->action = from->action;
	rule->ttl = load->config->mesh.ttl;
	rule->match.source = from->source;
	for (size_t i = 0; from->names[i] != NULL; i++)
		add_text(load, &rule->match.names, from->names[i]);
	if (from->names == private_reverse)
		add_shared(load, &rule->match.names);
	else if (from->names == wpad)
		add_searched(load, &rule->match.names);
	add_answer(load, rule);
	except_domains(load, rule);
}

void
config_complete_defaults(const struct config_load *load)
{
	struct policy *policy = &load->config->policy;
	const struct policy_defaults *defaults = &load->config->policy_defaults;
	const size_t count = sizeof(default_rules) / sizeof(default_rules[0]);

	for (size_t i = 0; defaults->enabled && i < count; i++) {
		const struct default_rule *from = &default_rules[i];
		struct policy_rule *grown;
		bool wanted;

		memcpy(&wanted, (const char *)defaults + from->option,
		    sizeof(wanted));
		if (!wanted)
			continue;
		grown = config_append(load, policy->rules, &policy->rule_count,
		    sizeof(*grown));
		if (grown == NULL)
			return;
		policy->rules = grown;
		fill(load, from, &grown[policy->rule_count - 1]);
	}
}

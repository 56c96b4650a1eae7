/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/match/policy_lookup.h"

#include "resolver/dns/rr.h"

bool
policy_is_mesh(const struct lookup *lookup)
{
	return lookup->entry.kind != ENTRY_NONE &&
	    lookup->entry.kind != ENTRY_EMPTY;
}

/* The rule's addresses of the type asked for; ANY: of the first that it has. */
static void
look_at_addresses(const struct rules_rule *rule,
    const struct question *question, struct lookup *lookup)
{
	const bool any = question->type == TYPE_ANY;
	struct rrset rrset = { .ttl = rule->ttl };

	if ((any || question->type == TYPE_A) && rule->ipv4_count > 0) {
		rrset.type = TYPE_A;
		rrset.rdlength = 4;
		rrset.count = rule->ipv4_count;
		rrset.rdata = rule->ipv4;
	} else if ((any || question->type == TYPE_AAAA) &&
	    rule->ipv6_count > 0) {
		rrset.type = TYPE_AAAA;
		rrset.rdlength = 16;
		rrset.count = rule->ipv6_count;
		rrset.rdata = rule->ipv6;
	}
	lookup_fixed(lookup, question, rrset.count > 0 ? &rrset : NULL);
}

static void
look_at_pointer(const struct rules_rule *rule, const struct question *question,
    struct lookup *lookup)
{
	const struct rrset pointer = { .type = TYPE_PTR, .count = 1,
		.ttl = rule->ttl, .rdata = rule->cname };
	const bool asked = question->type == TYPE_PTR ||
	    question->type == TYPE_ANY;

	lookup_fixed(lookup, question, asked ? &pointer : NULL);
}

static void
look_at_cname(const struct rules_rule *rule, const struct question *question,
    struct lookup *lookup)
{
	const struct rrset cname = { .type = TYPE_CNAME, .count = 1,
		.ttl = rule->ttl, .rdata = rule->cname };

	lookup_fixed(lookup, question, &cname);
}

bool
policy_rewrite(const struct policy_found *found, const struct dns_name *asked,
    struct dns_name *to)
{
	return rules_rewrite(&found->rule,
	    found->judged.length > 0 ? &found->judged : asked, to);
}

static void
look_elsewhere(const struct policy_found *found,
    const struct question *question, struct lookup *lookup)
{
	struct dns_name to;

	if (policy_rewrite(found, &question->name, &to))
		lookup_other(lookup, question, &to);
	else
		lookup_fixed(lookup, question, NULL);
}

void
policy_lookup(const struct policy_found *found,
    const struct question *question, struct lookup *lookup)
{
	const struct ruling *ruling = &found->ruling;

	switch (ruling->action) {
	case RULE_ADDRESSES:
		look_at_addresses(&found->rule, question, lookup);
		break;
	case RULE_CNAME:
		look_at_cname(&found->rule, question, lookup);
		break;
	case RULE_POINTER:
		look_at_pointer(&found->rule, question, lookup);
		break;
	case RULE_REWRITE:
		look_elsewhere(found, question, lookup);
		break;
	case RULE_NXDOMAIN:
	case RULE_NODATA:
	case RULE_TCP_ONLY:
		lookup_fixed(lookup, question, NULL);
		break;
	case RULE_FILTER:
		if (ruling_filters(ruling, question->type))
			lookup_fixed(lookup, question, NULL);
		break;
	default:
		break;
	}
}

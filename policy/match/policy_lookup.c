/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/match/policy_lookup.h"

#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

bool
policy_is_mesh(const struct lookup *lookup)
{
	return lookup->entry.kind != ENTRY_NONE &&
	    lookup->entry.kind != ENTRY_EMPTY;
}

/* The rule's records of the type asked for, or its CNAME; ANY: all of them. */
static void
look_at_records(const struct rules_rule *rule, const struct question *question,
    struct lookup *lookup)
{
	struct rrset found[LOOKUP_MAX_CHAIN + 1];
	size_t count = 0;

	for (unsigned int n = 0; count < LOOKUP_MAX_CHAIN + 1 &&
	    rules_rrset(rule, n, &found[count]); n++)
		count += question->type == TYPE_ANY ||
		    found[count].type == question->type ||
		    found[count].type == TYPE_CNAME;
	lookup_fixed(lookup, question, found, count);
}

static void
look_below(const struct rules_rule *rule, const struct question *question,
    struct lookup *lookup)
{
	struct rrset cname;
	struct dns_name end;

	if (rules_rrset(rule, 0, &cname) && cname.type == TYPE_CNAME &&
	    name_read_lower(&end, cname.rdata + 2,
	    wire_load_u16(cname.rdata)) == 0)
		lookup_below(lookup, question, &end, cname.ttl);
	else
		lookup_fixed(lookup, question, NULL, 0);
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
		lookup_fixed(lookup, question, NULL, 0);
}

void
policy_lookup(const struct policy_found *found,
    const struct question *question, struct lookup *lookup)
{
	const struct ruling *ruling = &found->ruling;

	switch (ruling->action) {
	case RULE_ADDRESSES:
	case RULE_CNAME:
	case RULE_RECORDS:
		look_at_records(&found->rule, question, lookup);
		break;
	case RULE_CNAME_BELOW:
		look_below(&found->rule, question, lookup);
		break;
	case RULE_REWRITE:
		look_elsewhere(found, question, lookup);
		break;
	case RULE_NXDOMAIN:
	case RULE_NODATA:
	case RULE_TCP_ONLY:
		lookup_fixed(lookup, question, NULL, 0);
		break;
	case RULE_FILTER:
		if (ruling_filters(ruling, question->type))
			lookup_fixed(lookup, question, NULL, 0);
		break;
	default:
		break;
	}
}

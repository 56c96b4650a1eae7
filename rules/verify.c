/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's table against the one that is wanted.  The wanted rules are
 * made by the same code that installs them; both sides are then compared
 * expression by expression and attribute by attribute, counters apart.
 */
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libnftnl/expr.h>

#include "rules/compare.h"
#include "rules/expressions.h"
#include "rules/kernel.h"
#include "rules/netlink/nft_dump.h"

/* A comparison under way. */
struct check {
	const struct ruleset *set;
	const struct nft_dump *dump;
	struct diag *diag;
	size_t differences;
	int error;		/* what kept us from comparing */
};

__attribute__((format(printf, 2, 3)))
static void
differ(struct check *check, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;

	check->differences++;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (text == NULL)
		check->error = -ENOMEM;
	else
		diag_add(check->diag, DIAG_ERROR, NULL, 0, "%s", text);
	free(text);
}

static void
check_table(struct check *check)
{
	if (nft_dump_flags(check->dump) & NFT_TABLE_F_DORMANT)
		differ(check, "table inet " RULES_TABLE
		    " is dormant: none of its rules is in force");
}

static void
check_chain(struct check *check, enum rules_chain which)
{
	const struct rules_chain_form *form = rules_chain_form(which);
	const char *name = form->name, *type;
	struct nftnl_chain *chain = nftnl_chain_list_lookup_byname(
	    check->dump->chains, name);
	int32_t priority;

	if (chain == NULL) {
		differ(check, "chain %s is missing", name);
		return;
	}
	if (!nftnl_chain_is_set(chain, NFTNL_CHAIN_HOOKNUM)) {
		differ(check, "chain %s is at no hook: no packet comes to it",
		    name);
		return;
	}
	type = nftnl_chain_get_str(chain, NFTNL_CHAIN_TYPE);
	if (type == NULL || strcmp(type, form->type) != 0)
		differ(check, "chain %s: wanted type %s, kernel has %s",
		    name, form->type, type == NULL ? "none" : type);
	if (nftnl_chain_get_u32(chain, NFTNL_CHAIN_HOOKNUM) != form->hook)
		differ(check, "chain %s: wanted hook %s (%u), kernel has "
		    "hook %u", name, form->hook == NF_INET_LOCAL_OUT ?
		    "output" : "prerouting", form->hook,
		    nftnl_chain_get_u32(chain, NFTNL_CHAIN_HOOKNUM));
	priority = nftnl_chain_get_s32(chain, NFTNL_CHAIN_PRIO);
	if (priority != form->priority)
		differ(check, "chain %s: wanted priority %d, kernel has %d",
		    name, form->priority, priority);
	if (nftnl_chain_get_u32(chain, NFTNL_CHAIN_POLICY) != NF_ACCEPT)
		differ(check, "chain %s: wanted policy accept, kernel has drop",
		    name);
}

/* Whether the name is that of one of our chains. */
static bool
chain_of_name(const struct ruleset *set, const char *name)
{
	for (enum rules_chain which = 0; which < CHAINS; which++)
		if (ruleset_has_chain(set, which) &&
		    strcmp(name, rules_chain_form(which)->name) == 0)
			return true;
	return false;
}

static void
check_chains(struct check *check)
{
	struct nftnl_chain_list_iter *chains =
	    nftnl_chain_list_iter_create(check->dump->chains);
	struct nftnl_chain *chain;

	for (enum rules_chain which = 0; which < CHAINS; which++)
		if (ruleset_has_chain(check->set, which))
			check_chain(check, which);
	if (chains == NULL) {
		check->error = -ENOMEM;
		return;
	}
	while ((chain = nftnl_chain_list_iter_next(chains)) != NULL) {
		const char *name = nftnl_chain_get_str(chain, NFTNL_CHAIN_NAME);

		if (!chain_of_name(check->set, name))
			differ(check, "chain %s is not ours", name);
	}
	nftnl_chain_list_iter_destroy(chains);
}

static void
check_set(struct check *check, const struct address_set *wanted)
{
	struct nftnl_set *set = nftnl_set_list_lookup_byname(
	    check->dump->sets, wanted->name);
	char *text = NULL;
	int rc;

	if (set == NULL) {
		differ(check, "set %s is missing", wanted->name);
		return;
	}
	if (nftnl_set_get_u32(set, NFTNL_SET_FLAGS) != NFT_SET_INTERVAL ||
	    nftnl_set_get_u32(set, NFTNL_SET_KEY_LEN) !=
	    address_size(wanted->family)) {
		differ(check, "set %s: wanted intervals of %s addresses, "
		    "kernel has another type or other flags", wanted->name,
		    wanted->family == AF_INET ? "IPv4" : "IPv6");
		return;
	}
	rc = compare_elements(wanted, set, &text);
	if (rc < 0)
		check->error = rc;
	else if (rc > 0)
		differ(check, "set %s: %s", wanted->name, text);
	free(text);
}

/* A set of connections; what is in it, the packets decide. */
static void
check_streams(struct check *check, bool ipv4)
{
	const char *name = ipv4 ? RULES_STREAMS4 : RULES_STREAMS6;
	struct nftnl_set *set = nftnl_set_list_lookup_byname(
	    check->dump->sets, name);

	if (set == NULL)
		differ(check, "set %s is missing", name);
	else if (!compare_streams(check->set, set, ipv4))
		differ(check, "set %s: wanted %u connections of IPv%c for %d s, "
		    "kernel has another type, size, time or other flags", name,
		    check->set->streams_max, ipv4 ? '4' : '6', RULES_STREAMS_S);
}

static void
check_users(struct check *check, enum user_budget budget)
{
	const char *name = rules_users_name(budget);
	struct nftnl_set *set = nftnl_set_list_lookup_byname(
	    check->dump->sets, name);

	if (set == NULL)
		differ(check, "set %s is missing", name);
	else if (!compare_users(set))
		differ(check, "set %s: wanted %d users for %d s, "
		    "kernel has another type, size, time or other flags",
		    name, RULES_USERS_MAX, RULES_USERS_S);
}

/* Whether it is one of the sets that rules fill. */
static bool
is_filled(const struct ruleset *set, const char *name)
{
	for (enum user_budget i = 0; i < USER_BUDGETS; i++)
		if (ruleset_has_budget(set, i) &&
		    strcmp(name, rules_users_name(i)) == 0)
			return true;
	return set->tcp && (strcmp(name, RULES_STREAMS4) == 0 ||
	    strcmp(name, RULES_STREAMS6) == 0);
}

static void
check_sets(struct check *check)
{
	struct nftnl_set_list_iter *sets =
	    nftnl_set_list_iter_create(check->dump->sets);
	struct nftnl_set *set;

	for (size_t i = 0; i < RULES_SETS; i++)
		if (check->set->sets[i].count > 0)
			check_set(check, &check->set->sets[i]);
	if (check->set->tcp) {
		check_streams(check, true);
		check_streams(check, false);
	}
	for (enum user_budget i = 0; i < USER_BUDGETS; i++)
		if (ruleset_has_budget(check->set, i))
			check_users(check, i);
	if (sets == NULL) {
		check->error = -ENOMEM;
		return;
	}
	while ((set = nftnl_set_list_iter_next(sets)) != NULL) {
		const char *name = nftnl_set_get_str(set, NFTNL_SET_NAME);
		bool wanted = is_filled(check->set, name);

		for (size_t i = 0; i < RULES_SETS; i++)
			wanted |= check->set->sets[i].count > 0 &&
			    strcmp(name, check->set->sets[i].name) == 0;
		if (!wanted)
			differ(check, "set %s is not wanted", name);
	}
	nftnl_set_list_iter_destroy(sets);
}

/* The two lists of one chain: rules as wanted, rules as they are. */
struct sides {
	const struct rule **wanted;
	size_t wanted_count;
	const struct nftnl_rule **there;
	size_t there_count;
};

static void
sides_free(struct sides *sides)
{
	free(sides->wanted);
	free(sides->there);
	*sides = (struct sides){ .wanted = NULL };
}

static int
sides_fill(struct sides *sides, const struct check *check,
    enum rules_chain which)
{
	struct nftnl_rule_list_iter *rules;
	const struct nftnl_rule *rule;
	size_t room = 0;

	*sides = (struct sides){ .wanted = NULL };
	rules = nftnl_rule_list_iter_create(check->dump->rules);
	if (rules == NULL)
		return -ENOMEM;
	while (nftnl_rule_list_iter_next(rules) != NULL)
		room++;
	nftnl_rule_list_iter_destroy(rules);
	rules = nftnl_rule_list_iter_create(check->dump->rules);
	sides->wanted = calloc(check->set->count + 1, sizeof(struct rule *));
	sides->there = calloc(room + 1, sizeof(struct nftnl_rule *));
	if (rules == NULL || sides->wanted == NULL || sides->there == NULL) {
		if (rules != NULL)
			nftnl_rule_list_iter_destroy(rules);
		sides_free(sides);
		return -ENOMEM;
	}
	while ((rule = nftnl_rule_list_iter_next(rules)) != NULL)
		if (strcmp(nftnl_rule_get_str(rule, NFTNL_RULE_CHAIN),
		    rules_chain_form(which)->name) == 0)
			sides->there[sides->there_count++] = rule;
	nftnl_rule_list_iter_destroy(rules);
	for (size_t i = 0; i < check->set->count; i++)
		if (check->set->rules[i].chain == which)
			sides->wanted[sides->wanted_count++] =
			    &check->set->rules[i];
	return 0;
}

/* Whether any wanted rule from "from" on equals the one there, or the reverse. */
static bool
wanted_later(const struct sides *sides, size_t from,
    const struct nftnl_rule *there)
{
	for (size_t i = from; i < sides->wanted_count; i++)
		if (compare_rule(sides->wanted[i], there) == 0)
			return true;
	return false;
}

static bool
there_later(const struct sides *sides, size_t from, const struct rule *wanted)
{
	for (size_t i = from; i < sides->there_count; i++)
		if (compare_rule(wanted, sides->there[i]) == 0)
			return true;
	return false;
}

enum rule_difference { RULE_MISSING, RULE_EXTRA, RULE_CHANGED };

static void
tell_rule(struct check *check, enum rules_chain which, size_t position,
    enum rule_difference difference, const struct rule *wanted,
    const struct nftnl_rule *there)
{
	const char *chain = rules_chain_form(which)->name;
	char *wanted_text = difference == RULE_EXTRA ? NULL :
	    describe_wanted(wanted);
	char *there_text = difference == RULE_MISSING ? NULL :
	    describe_there(there);

	if ((difference != RULE_EXTRA && wanted_text == NULL) ||
	    (difference != RULE_MISSING && there_text == NULL))
		check->error = -ENOMEM;
	else if (difference == RULE_MISSING)
		differ(check, "chain %s: rule %zu is missing: %s", chain,
		    position, wanted_text);
	else if (difference == RULE_EXTRA)
		differ(check, "chain %s: a rule before rule %zu is not ours: %s",
		    chain, position, there_text);
	else
		differ(check, "chain %s: rule %zu differs: wanted %s, kernel "
		    "has %s", chain, position, wanted_text, there_text);
	free(wanted_text);
	free(there_text);
}

/*
 * Walks both lists.  Where they part, a rule that turns up later on the other
 * side tells whether one is missing or one too many; positions are those of
 * the wanted rules, from 1.
 */
static void
check_rules(struct check *check, enum rules_chain which)
{
	struct sides sides;
	size_t i = 0, j = 0;
	int rc = sides_fill(&sides, check, which);

	while (rc == 0 && (i < sides.wanted_count || j < sides.there_count)) {
		const struct rule *wanted = sides.wanted[i];
		const struct nftnl_rule *there = sides.there[j];

		if (i < sides.wanted_count && j < sides.there_count) {
			rc = compare_rule(wanted, there);
			if (rc < 0)
				break;
			if (rc == 0) {
				i++;
				j++;
				continue;
			}
			rc = 0;
		}
		if (i == sides.wanted_count || (j < sides.there_count &&
		    there_later(&sides, j + 1, wanted))) {
			tell_rule(check, which, i + 1, RULE_EXTRA, NULL, there);
			j++;
		} else if (j == sides.there_count ||
		    wanted_later(&sides, i + 1, there)) {
			tell_rule(check, which, i + 1, RULE_MISSING, wanted,
			    NULL);
			i++;
		} else {
			tell_rule(check, which, i + 1, RULE_CHANGED, wanted,
			    there);
			i++;
			j++;
		}
	}
	sides_free(&sides);
	if (rc < 0)
		check->error = rc;
}

int
rules_kernel_verify(struct rules_kernel *kernel, const struct ruleset *set,
    enum rules_state *state, struct diag *diag)
{
	struct nft_dump dump;
	struct check check = {
		.set = set, .dump = &dump, .diag = diag,
	};
	int rc = nft_dump_read(rules_kernel_netlink(kernel), &dump);

	*state = RULES_ABSENT;
	if (rc == -ENOENT) {
		diag_add(diag, DIAG_ERROR, NULL, 0, "table inet " RULES_TABLE
		    " is not in the kernel: nfdnsd is not running here, or "
		    "another program took it out");
		return 0;
	}
	if (rc != 0)
		return rc;
	check_table(&check);
	check_chains(&check);
	check_sets(&check);
	for (enum rules_chain chain = 0; chain < CHAINS; chain++)
		if (ruleset_has_chain(set, chain))
			check_rules(&check, chain);
	nft_dump_free(&dump);
	*state = check.differences > 0 ? RULES_DIFFER : RULES_EQUAL;
	return check.error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One rule or one set of the kernel against one that is wanted. */
#ifndef NFDNS_RULES_COMPARE_H
#define NFDNS_RULES_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include <libnftnl/rule.h>
#include <libnftnl/set.h>

#include "rules/ruleset.h"

/*
 * Whether the kernel's rule does what is wanted and has the same comment, by
 * the expressions that the wanted rule is encoded to; both forms of a queue will
 * do, and counters may differ.  0: equal, 1: not, or a negative errno.
 */
int compare_rule(const struct rule *wanted, const struct nftnl_rule *there);

/*
 * The same for the elements of a set; with 1, *text says which address is
 * missing or too many.  The caller frees it.
 */
int compare_elements(const struct address_set *wanted,
    const struct nftnl_set *there, char **text);

/*
 * Whether a set of connections has the wanted type and size; NULL has not.
 */
bool compare_streams(const struct ruleset *set, const struct nftnl_set *there,
    bool ipv4);

/* The same for the set of users. */
bool compare_users(const struct nftnl_set *there);

/*
 * Comment and content of a rule in words.  The caller frees it; NULL: out of
 * memory.
 */
char *describe_wanted(const struct rule *rule);
char *describe_there(const struct nftnl_rule *rule);

#endif

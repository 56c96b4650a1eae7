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
 * Whether the kernel's rule does what is wanted and says so in its comment;
 * what its counter shows does not matter, and either way to a queue will do.
 * 0: equal, 1: not, or a negative errno.
 */
int compare_rule(const struct ruleset *set, const struct rule *wanted,
    const struct nftnl_rule *there);

/*
 * The same for the elements of a set; with 1, *text says which address is
 * missing or too many.  The caller's to free.
 */
int compare_elements(const struct address_set *wanted,
    const struct nftnl_set *there, char **text);

/*
 * Whether a set of connections is of the type and the size that are wanted; NULL
 * is not.
 */
bool compare_streams(const struct ruleset *set, const struct nftnl_set *there,
    bool ipv4);

/* The same for the set of users. */
bool compare_users(const struct nftnl_set *there);

/* Comment and content of a rule in words; the caller's to free, NULL: no memory. */
char *describe_wanted(const struct ruleset *set, const struct rule *rule);
char *describe_there(const struct nftnl_rule *rule);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of an explanation that is about the policy. */
#ifndef NFDNS_NFQ_CLI_EXPLAIN_PRINT_POLICY_H
#define NFDNS_NFQ_CLI_EXPLAIN_PRINT_POLICY_H

#include <stdbool.h>
#include <stdio.h>

#include "nfq/cli/explain/explain.h"
#include "resolver/text/json_write.h"

/*
 * The rules in order, matched or not, with the first condition that does not
 * hold.  Of many rules, those for other names are only counted, unless "all"; of
 * those that stand in no configuration, they are not mentioned.
 */
void explain_print_policy(const struct explanation *e, bool all, FILE *out);

/* The same as the member "policy". */
void explain_write_policy(const struct explanation *e, bool all,
    struct json_write *w);

#endif

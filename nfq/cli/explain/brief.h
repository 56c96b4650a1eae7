/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An explanation in one line. */
#ifndef NFDNS_NFQ_CLI_EXPLAIN_BRIEF_H
#define NFDNS_NFQ_CLI_EXPLAIN_BRIEF_H

#include <stdio.h>

#include "nfq/cli/explain/explain.h"

/*
 * Prints what is decided and why, the rule, and the records of the answer:
 *   answer (record): A 10.0.0.1
 */
void explain_print_brief(const struct explanation *e, FILE *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints an explanation for people, at most 80 columns wide. */
#ifndef NFDNS_NFQ_CLI_EXPLAIN_PRINT_H
#define NFDNS_NFQ_CLI_EXPLAIN_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "nfq/cli/explain/explain.h"

/* How it is printed. */
struct explain_view {
	const char *from;		/* where table and settings come from */
	bool all;			/* every rule, also those far from matching */
};

void explain_print(const struct explanation *e, const struct explain_view *view,
    FILE *out);

/* In one line: what is decided and why, the rule, and the records of the answer. */
void explain_print_brief(const struct explanation *e, FILE *out);

#endif

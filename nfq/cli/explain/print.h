/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints an explanation for people, at most 80 columns wide. */
#ifndef NFDNS_NFQ_CLI_EXPLAIN_PRINT_H
#define NFDNS_NFQ_CLI_EXPLAIN_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "nfq/cache/cache.h"
#include "nfq/cli/explain/explain.h"
#include "policy/status/forward_status.h"

/* What came when the question was really sent. */
struct explain_came {
	const struct message *message;	/* NULL: none, */
	const char *why;		/* and why */
	int64_t spent_us;
};

/* How it is printed. */
struct explain_view {
	const char *from;		/* where table and settings come from */
	bool all;			/* every rule, also those far from matching */
	struct explain_live {		/* what only the running daemon knows */
		const struct status_forwarding *forwarding;	/* or NULL */
		struct cache *cache;	/* or NULL; "now" is of its clock */
		monotime_t now;
		uint64_t time;		/* seconds since 1970 */
	} live;
	const struct explain_came *came;	/* JSON: NULL: nobody was asked */
};

void explain_print(const struct explanation *e, const struct explain_view *view,
    FILE *out);

/* In one line: what is decided and why, the rule, and the records of the answer. */
void explain_print_brief(const struct explanation *e, FILE *out);

/* That line, and below it what came.  Returns explain_agrees(). */
bool explain_print_beside(const struct explanation *e,
    const struct explain_came *came, FILE *out);

/* Whether what came is what the explanation says, as far as it says something. */
bool explain_agrees(const struct explanation *e,
    const struct explain_came *came);

#endif

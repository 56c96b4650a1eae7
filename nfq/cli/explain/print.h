/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints an explanation for people, at most 80 columns wide. */
#ifndef NFDNS_NFQ_CLI_EXPLAIN_PRINT_H
#define NFDNS_NFQ_CLI_EXPLAIN_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "nfq/cache/cache.h"
#include "nfq/cli/explain/explain.h"
#include "policy/status/forward_status.h"
#include "resolver/text/json_write.h"

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

/* The part of an explanation that is about the policy. */

/* The same as the member "policy". */
void explain_write_policy(const struct explanation *e, bool all,
    struct json_write *w);

/* An explanation as one JSON object on one line, for programs. */

/* 0, -ENOMEM or -EIO. */
int explain_print_json(const struct explanation *e,
    const struct explain_view *view, FILE *out)
    __attribute__((warn_unused_result));

/* Text under a heading, wrapped at 80 columns. */

#define LINES_TEXT	2048		/* longer texts are cut */

/* Values of explanations in words. */

/* "user 33 (www-data), group 33"; lives as long as buf. */
#define WORDS_ASKER	192
const char *words_asker(const struct explain_question *question,
    char buf[static WORDS_ASKER]);

/* How a name was found, behind the name: "is in the table"; and in one word. */
const char *words_found(enum entry_kind kind);
const char *words_kind(enum entry_kind kind);

/* Why, as a sentence's half: "the table has records of this type". */
const char *words_reason(enum reason reason);

/* The option that says the condition: "users", of "match". */
const char *words_key(enum rule_key key);

/* What a rule does: "nxdomain", "10.1.1.1", "only A"; lives as long as buf. */
#define WORDS_ACTION	320
const char *words_action(const struct rules_rule *rule,
    char buf[static WORDS_ACTION]);

#endif

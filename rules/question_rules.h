/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of chain "question" that queue packets, and what may not be queued. */
#ifndef NFDNS_RULES_QUESTION_RULES_H
#define NFDNS_RULES_QUESTION_RULES_H

#include <stdbool.h>

#include "rules/ruleset.h"

/* Appends them, behind the bypasses: there are at most so many.  "paused": RULES_PAUSED. */
#define QUESTION_RULES	21
void question_rules_add(struct ruleset *set, bool any_nameserver, bool paused);

#endif

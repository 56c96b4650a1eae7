/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of chains "stream" and "arrival": TCP, once it is intercepted. */
#ifndef NFDNS_RULES_STREAM_RULES_H
#define NFDNS_RULES_STREAM_RULES_H

#include "rules/ruleset.h"

/* Appends all of them: at most STREAM_RULES. */
#define STREAM_RULES 24
void stream_rules_add(struct ruleset *set);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules for what containers and guests behind this machine ask. */
#ifndef NFDNS_RULES_GUEST_RULES_H
#define NFDNS_RULES_GUEST_RULES_H

#include "rules/ruleset.h"

/* How many there are, at most. */
size_t guest_rules_count(const struct config *config);

/* Fills the sets of addresses that those without sources ask from.  0 or -ENOMEM. */
int guest_rules_fill(struct ruleset *set, const struct config *config)
    __attribute__((warn_unused_result));

/* Appends them; "queued": questions go to the queue. */
void guest_rules_add(struct ruleset *set, const struct config *config,
    bool queued);

#endif

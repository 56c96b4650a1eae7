/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the kernel did not take a rule set, for people. */
#ifndef NFDNS_RULES_REFUSAL_H
#define NFDNS_RULES_REFUSAL_H

#include "resolver/text/diag.h"
#include "rules/batch.h"

/* Why nf_tables as a whole cannot be used and what to do, in words. */
const char *refusal_reason(int error);

/* Adds one error: which part was refused, why, and what to do about it. */
void refusal_explain(const struct batch_part *failed, int error,
    struct diag *diag);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/metrics_policy.h"

#include <errno.h>
#include <stdlib.h>

#define OTHERS	"(others)"	/* no rule has this name */

/* Which of a rule's numbers. */
enum number { MATCHED, ENFORCED, OBSERVED, LIMITED };

static uint64_t
number_of(const struct policy_shown *shown, enum number number)
{
	switch (number) {
	case ENFORCED:
		return shown->enforced;
	case OBSERVED:
		return shown->observed;
	case LIMITED:
		return shown->limited;
	default:
		return shown->matched;
	}
}

int
metrics_policy(const struct metrics_out *m, const struct status_policy *page)
{
	static const struct {
		const char *family, *help;
		enum number number;
	} rows[] = {
		{ "nfdns_policy_rule_matched_total",
		  "Questions that a rule of the policy matched.", MATCHED },
		{ "nfdns_policy_rule_enforced_total",
		  "Of these, while the rule was enforced.", ENFORCED },
		{ "nfdns_policy_rule_observed_total",
		  "Of these, while the rule only observed.", OBSERVED },
		{ "nfdns_policy_rule_limited_total",
		  "Of these, over the rule's rate.", LIMITED },
	};
	struct policy_shown *shown, others;
	const size_t count = policy_status_read(page, &shown, &others);

	if (shown == NULL)
		return -ENOMEM;
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]) &&
	    (count > 0 || others.number > 0); r++) {
		metrics_counter(m, rows[r].family, rows[r].help);
		for (size_t i = 0; i < count; i++)
			metrics_sample(m, rows[r].family,
			    LABELS({ "rule", shown[i].name }),
			    number_of(&shown[i], rows[r].number));
		if (others.number > 0)
			metrics_sample(m, rows[r].family,
			    LABELS({ "rule", OTHERS }),
			    number_of(&others, rows[r].number));
	}
	free(shown);
	return 0;
}

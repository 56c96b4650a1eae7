/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as a file of names of a rule: errors, or rules that can be opened. */
#include "tests/fuzz/rules_of_file.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy_rule rule = { .name = "r", .action = RULE_PASS,
		.match.names = { 0, 1 }, .rate.over = RULE_REFUSE };
	struct policy_name name = { .kind = POLICY_SET };
	struct policy_set set = { .path = (char[]){ "/names" } };
	const struct policy policy = { .rules = &rule, .rule_count = 1,
		.names = &name, .name_count = 1, .sets = &set,
		.set_count = 1 };
	uint8_t *octets;
	struct rules *rules = rules_of_file(&policy, data, size, &octets);

	rules_close(rules);
	free(octets);
	return 0;
}

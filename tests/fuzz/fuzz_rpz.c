/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as a response policy zone: errors, or rules that can be opened. */
#include "policy/match/policy_gather.h"
#include "tests/fuzz/rules_of_file.h"

/* A question that each of the rules may be about. */
static void
ask(const struct rules *rules, const char *text)
{
	static const uint8_t address[16] = { 10 };
	const struct asker asker = { .family = 2, .address = address,
		.nameserver = address };
	struct dns_name name;
	const struct rules_question question = { .name = &name, .type = 1,
		.asker = &asker };
	const struct policy_source source = { .rules = rules };
	struct policy_found found;

	check(name_from_text(&name, text, strlen(text)) == 0);
	policy_gather(&source, &question, &found);
	if (found.ruling.rule != 0)
		check(found.rule.name_length == 5 &&
		    memcmp(found.rule.name, "rpz:r", 5) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy_rule rule = { .name = "r", .zone = 1, .ttl = 30,
		 };
	struct policy_set set = { .path = (char[]){ "/zone" }, .zone = 1 };
	const struct policy policy = { .rules = &rule, .rule_count = 1,
		.sets = &set, .set_count = 1 };
	uint8_t *octets;
	struct rules *rules;

	check(name_from_text(&rule.origin, "rpz", 3) == 0);
	rules = rules_of_file(&policy, data, size, &octets);
	if (rules != NULL) {
		ask(rules, "a.b.example");
		ask(rules, "evil.com");
	}
	rules_close(rules);
	free(octets);
	return 0;
}

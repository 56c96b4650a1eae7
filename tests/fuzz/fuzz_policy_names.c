/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a file of names of a rule: rules that can be opened, which match
 * each name that a line of the file has.
 */
#include "policy/match/list_line.h"
#include "tests/fuzz/rules_of_file.h"

static void
check_name(const struct rules *rules, const struct policy_name *name)
{
	static const uint8_t address[16] = { 10 };
	const struct asker asker = { .family = 2, .address = address,
		.nameserver = address };
	const struct rules_question question = { .name = &name->name,
		.type = 1, .asker = &asker };
	struct rules_cursor cursor;

	check(name->kind != POLICY_SET && name->name.length > 0);
	if (name->kind == POLICY_BELOW)
		return;
	rules_begin(&cursor, rules, &question);
	check(rules_next(&cursor) == 1);
}

static void
check_lines(const struct rules *rules, const char *text, size_t size)
{
	while (size > 0) {
		const char *stop = memchr(text, '\n', size);
		const size_t length = stop != NULL ? (size_t)(stop - text) :
		    size;
		struct policy_name name;
		struct list_line line;

		list_line_begin(&line, (struct span){ text, length });
		while (list_line_next(&line, &name))
			check_name(rules, &name);
		text += length;
		size -= length;
		if (size > 0) {
			text++;
			size--;
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy_rule rule = { .name = "r", .action = RULE_PASS,
		.match.names = { 0, 1 } };
	struct policy_name name = { .kind = POLICY_SET };
	struct policy_set set = { .path = (char[]){ "/names" } };
	const struct policy policy = { .rules = &rule, .rule_count = 1,
		.names = &name, .name_count = 1, .sets = &set,
		.set_count = 1 };
	uint8_t *octets;
	struct rules *rules = rules_of_file(&policy, data, size, &octets);

	if (rules != NULL)
		check_lines(rules, (const char *)data, size);
	rules_close(rules);
	free(octets);
	return 0;
}

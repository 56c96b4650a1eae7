/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as a file of names of a rule: errors, or rules that can be opened. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "policy/match/rules.h"
#include "tests/fuzz/fuzz.h"

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
	struct diag diag = DIAG_INIT;
	struct rules *rules = NULL;
	uint8_t *octets = NULL;
	const char *why;
	size_t length;
	int fd = memfd_create("names", MFD_CLOEXEC), error;

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	error = rules_build(&policy, "/etc/test.conf", &fd, &diag, &octets,
	    &length);
	check((error == 0) == (diag.errors == 0));
	for (size_t i = 0; i < diag.kept; i++)
		check(strchr(diag.entries[i].text, '\n') == NULL);
	if (error == 0)
		check(rules_open(&rules, octets, length, &why) == 0);
	rules_close(rules);
	free(octets);
	diag_free(&diag);
	(void)close(fd);
	return 0;
}

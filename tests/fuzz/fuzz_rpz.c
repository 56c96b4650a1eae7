/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as a response policy zone: errors, or rules that can be opened. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "policy/match/policy_gather.h"
#include "tests/fuzz/fuzz.h"

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
		.rate.over = RULE_REFUSE };
	struct policy_set set = { .path = (char[]){ "/zone" }, .zone = 1 };
	const struct policy policy = { .rules = &rule, .rule_count = 1,
		.sets = &set, .set_count = 1 };
	struct diag diag = DIAG_INIT;
	struct rules *rules = NULL;
	uint8_t *octets = NULL;
	const char *why;
	size_t length;
	int fd = memfd_create("zone", MFD_CLOEXEC), error;

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	check(name_from_text(&rule.origin, "rpz", 3) == 0);
	error = rules_build(&policy, "/etc/test.conf", &fd, &diag, &octets,
	    &length);
	check((error == 0) == (diag.errors == 0));
	for (size_t i = 0; i < diag.kept; i++)
		check(strchr(diag.entries[i].text, '\n') == NULL);
	if (error == 0)
		check(rules_open(&rules, octets, length, &why) == 0);
	if (rules != NULL) {
		ask(rules, "a.b.example");
		ask(rules, "evil.com");
	}
	rules_close(rules);
	free(octets);
	diag_free(&diag);
	(void)close(fd);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as the compiled policy of an image: refused, or safe to ask.  The
 * size in the header is put right first, as a hostile one would be.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/match/policy_gather.h"
#include "policy/match/section.h"
#include "tests/fuzz/fuzz.h"

static const uint8_t address[16] = { 10, 1, 2, 3 };

static void
look_at_rule(const struct rules *rules, unsigned int number,
    const struct dns_name *name)
{
	struct rules_rule rule;
	struct dns_name to;
	unsigned int sum = 0;

	rules_get(rules, number, &rule);
	for (size_t i = 0; i < rule.name_length; i++)
		sum += (uint8_t)rule.name[i];
	for (size_t i = 0; rule.action == RULE_ADDRESSES &&
	    i < rule.ipv4_count * 4u; i++)
		sum += rule.ipv4[i];
	for (size_t i = 0; rule.action == RULE_ADDRESSES &&
	    i < rule.ipv6_count * 16u; i++)
		sum += rule.ipv6[i];
	if (rule.action == RULE_CNAME)
		check(name_read_lower(&to, rule.cname + 2,
		    rule.cname[1]) == 0);
	if (rule.action == RULE_REWRITE && rules_rewrite(&rule, name, &to))
		check(to.length > 0 && to.octets[to.length - 1] == 0);
	check(sum < UINT32_MAX);
}

static void
ask(const struct rules *rules, const char *text, uint8_t family)
{
	const struct policy_source source = { .rules = rules };
	const struct asker asker = { .uid = 1000, .gid = 100,
		.family = family, .protocol = IPPROTO_UDP,
		.address = address, .nameserver = address,
		.time = 1700000000 };
	struct dns_name name;
	const struct rules_question question = { .name = &name,
			.type = 1, .asker = &asker };
	struct policy_found found;
	struct rules_miss miss;

	check(name_from_text(&name, text, strlen(text)) == 0);
	policy_gather(&source, &question, &found);
	check(found.ruling.rule <= rules_count(rules));
	check(!rules_could_deny(rules, &asker) || rules_could_deny(rules, NULL));
	for (unsigned int i = 1; i <= rules_count(rules) && i < 100; i++) {
		(void)rules_matches(rules, i, &question, &miss);
		look_at_rule(rules, i, &name);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *octets = aligned_alloc(8, (size + 8) & ~(size_t)7);
	struct rules *rules;
	const char *why;
	int error;

	check(octets != NULL);
	if (size > 0)
		memcpy(octets, data, size);
	if (size >= sizeof(struct section_header))
		((struct section_header *)(void *)octets)->total_size = size;
	error = rules_open(&rules, octets, size, &why);
	check((error == 0) == (why == NULL));
	if (rules != NULL) {
		ask(rules, "a.b.ads.example", AF_INET);
		ask(rules, "www.old.example", AF_INET6);
		ask(rules, ".", AF_INET);
	}
	rules_close(rules);
	free(octets);
	return 0;
}

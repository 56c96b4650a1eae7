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
#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"
#include "tests/fuzz/fuzz.h"

static const uint8_t address[16] = { 10, 1, 2, 3 };

/* Each octet of them is there, and lookups take any of them. */
static unsigned int
look_at_records(const struct rules_rule *rule)
{
	struct rrset set;
	unsigned int sum = 0;

	for (unsigned int n = 0; rules_rrset(rule, n, &set); n++) {
		const uint8_t *rdata = set.rdata;

		check(n < SECTION_RRSETS_MAX && set.count > 0);
		for (uint32_t i = 0; i < set.count; i++) {
			const size_t skip = set.rdlength != 0 ? 0 : 2;
			const size_t length = skip == 0 ? set.rdlength :
			    wire_load_u16(rdata);

			check(rdata_valid(set.type, rdata + skip, length));
			rdata += skip + length;
			sum += rdata[-1];
		}
	}
	return sum;
}

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
	sum += look_at_records(&rule);
	if (rule.action == RULE_REWRITE && rules_rewrite(&rule, name, &to))
		check(to.length > 0 && to.octets[to.length - 1] == 0);
	check(sum < UINT32_MAX);
}

/* What the table would be asked for is left out: there is none. */
static void
answer(const struct policy_found *found, const struct dns_name *name)
{
	static const uint16_t types[] = { TYPE_A, TYPE_TXT, TYPE_CNAME,
		TYPE_ANY };
	static struct lookup lookup;
	struct question question = { .name = *name, .wire = name->octets };

	(void)look_at_records(&found->rule);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct rrset set;

		question.type = types[i];
		/* Only a CNAME that is followed needs a table. */
		if (found->ruling.action == RULE_REWRITE ||
		    (rules_rrset(&found->rule, 0, &set) &&
		    set.type == TYPE_CNAME && types[i] != TYPE_CNAME &&
		    types[i] != TYPE_ANY))
			continue;
		policy_lookup(found, &question, &lookup);
		check(lookup.chain_length <= LOOKUP_MAX_CHAIN + 1);
	}
}

static void
ask(const struct rules *rules, const char *text, uint8_t family)
{
	const struct policy_source source = { .rules = rules };
	const struct asker asker = { .uid = 1000, .gid = 100,
		.family = family, .protocol = IPPROTO_UDP,
		.address = address, .nameserver = address };
	struct dns_name name;
	const struct rules_question question = { .name = &name,
			.type = 1, .asker = &asker };
	struct policy_found found;
	struct rules_miss miss;

	check(name_from_text(&name, text, strlen(text)) == 0);
	policy_gather(&source, &question, &found);
	if (found.ruling.rule != 0)
		answer(&found, &name);
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

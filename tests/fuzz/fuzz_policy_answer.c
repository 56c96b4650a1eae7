/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as an answer whose names rules judge.  The first says how many records
 * are the table's.  What is denied is said by a rule that is there, of a name that
 * is one; the same octets are judged the same again.
 */
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>

#include "policy/match/policy_names.h"
#include "tests/fuzz/fuzz.h"
#include "tests/policy.h"

static const char text[] =
    "{ name = \"may\"; match = { names = [ \"ok.b\" ]; }; action = \"answer\"; },"
    "{ name = \"rated\"; match = { names = [ \"*.rate\" ]; };"
    "  rate = { limit = 1; per = \"user\"; }; },"
    "{ name = \"own\"; match = { names = [ \"own\" ]; }; cname = \"a.b\"; },"
    "{ name = \"not\"; match = { names = [ \".b\" ]; }; action = \"refuse\"; }";

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct test_policy policy;
	const struct policy_answer answer = { data + 1, size - 1,
		size > 0 ? data[0] % 4 : 0 };
	struct asker asker = { .uid = 1, .gid = 1, .family = AF_INET,
		.protocol = IPPROTO_UDP, .address = (const uint8_t *)"abcd" };
	struct dns_name name = { .length = 3, .labels = 1, .octets = "\1a" };
	struct rules_question asked = { .name = &name, .type = 1,
		.asker = &asker };
	struct policy_source source;
	struct policy_found found, again;
	enum policy_judged judged;

	if (size == 0)
		return 0;
	if (policy.rules == NULL)
		check(test_policy_make(&policy, text, -1));
	source = (struct policy_source){ .rules = policy.rules };
	for (unsigned int rule = 0; rule <= 3; rule += 3) {
		judged = policy_judge_answer(&source, &asked, rule, &answer,
		    &found);
		check((judged == POLICY_DENIED) == (found.ruling.rule != 0) ||
		    judged == POLICY_UNREADABLE);
		if (judged == POLICY_DENIED) {
			check(found.ruling.rule == 4 ||
			    (rule == 0 && found.ruling.rule == 3));
			check(found.judged.length > 0 &&
			    found.judged.labels > 0);
		}
		check(policy_judge_answer(&source, &asked, rule, &answer,
		    &again) == judged);
	}
	return 0;
}

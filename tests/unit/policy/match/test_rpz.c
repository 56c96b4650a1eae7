/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zones of policies that are refused, and what is left out of those that are not. */
#include "policy/decide.h"
#include "resolver/dns/rr.h"
#include "tests/check.h"
#include "tests/policy.h"

#define ZONE "{ name = \"z\"; format = \"rpz\"; path = \"/zone\"; " \
	"origin = \"rpz\"; }"

#define TXT_20	"abcdefghijklmnopqrst"
#define TXT_100	TXT_20 TXT_20 TXT_20 TXT_20 TXT_20

static struct test_policy p;

static bool
makes(const char *zone)
{
	const int fd = test_file(zone);
	const bool good = test_policy_make(&p, ZONE, fd);

	(void)close(fd);
	return good;
}

/* Whether a message begins so. */
static bool
says(const char *text)
{
	for (size_t i = 0; i < p.diag.kept; i++)
		if (strncmp(p.diag.entries[i].text, text, strlen(text)) == 0)
			return true;
	for (size_t i = 0; i < p.diag.kept; i++)
		printf("  %s\n", p.diag.entries[i].text);
	return false;
}

/* What stands in the answer for a name: "ACTION TTL TYPE xCOUNT ..." */
static const char *
answer_of(const char *text)
{
	static char out[4000];
	static const uint8_t address[16] = { 10 };
	const struct asker asker = { .family = AF_INET, .address = address,
		.nameserver = address };
	struct dns_name name;
	const struct rules_question question = { .name = &name,
		.type = TYPE_A, .asker = &asker };
	struct rules_cursor cursor;
	struct rules_rule rule;
	struct rrset set;
	unsigned int number;
	int n;

	CHECK(name_from_text(&name, text, strlen(text)) == 0);
	rules_begin(&cursor, p.rules, &question);
	number = rules_next(&cursor);
	if (number == 0)
		return "";
	rules_get_for(&cursor, number, &rule);
	n = snprintf(out, sizeof(out), "%s", decide_action_text(rule.action));
	for (unsigned int i = 0; rules_rrset(&rule, i, &set); i++)
		n += snprintf(out + n, sizeof(out) - (size_t)n, " %u %u x%u",
		    set.ttl, set.type, set.count);
	return out;
}

TEST(all_errors_at_once)
{
	CHECK(!makes("$TTL x\na CNAME .\nb A 10.0.0\n"
	    "\nd CNAME . extra\n$FOO\nc 2147483648 A 10.0.0.1\n"
	    "e CH TXT x\nf.other. CNAME .\n"));
	CHECK(p.diag.errors == 6 && p.diag.warnings == 1);
	CHECK(says("/zone:1: $TTL \"x\" is not a number of seconds"));
	CHECK(says("/zone:3: no record of a zone"));
	CHECK(says("/zone:5: no record of a zone"));
	CHECK(says("/zone:6: $FOO is not known here"));
	CHECK(says("/zone:7: a TTL that is not a number of seconds up to"));
	CHECK(says("/zone:8: a class other than IN"));
	CHECK(says("/zone:9: left out: f.other. does not end with the zone's"));
	test_policy_free(&p);
	CHECK(!makes("a CNAME .\n$INCLUDE ../gone\n"));
	CHECK(says("/zone:2: $INCLUDE: /../gone lies outside"));
	test_policy_free(&p);
	CHECK(!makes("a CNAME (\n"));
	test_policy_free(&p);
	CHECK(!makes("a.other. CNAME .\nb.other. CNAME .\n"));
	CHECK(p.diag.errors == 1 && p.diag.warnings == 2);
	CHECK(says("/zone: none of its names ends with the zone's name"));
	test_policy_free(&p);
}

TEST(other_triggers_are_told_once)
{
	size_t two;

	CHECK(makes("32.1.0.0.10.rpz-ip CNAME .\n24.0.0.0.10.rpz-ip CNAME .\n"
	    "32.1.0.0.10.rpz-client-ip CNAME .\n32.1.0.0.10.rpz-nsip CNAME .\n"
	    "ns.a.rpz-nsdname CNAME .\nx.rpz-foo CNAME .\nrpz-bar CNAME .\n"
	    "a.rpz-c.b CNAME .\n"));
	CHECK(p.diag.warnings == 6);
	CHECK(says("/zone:1: left out: triggers rpz-ip, by addresses of answers"
	    " (2 of them, this is the first)"));
	CHECK(says("/zone:3: left out: triggers rpz-client-ip"));
	CHECK(says("/zone:4: left out: triggers rpz-nsip"));
	CHECK(says("/zone:5: left out: triggers rpz-nsdname"));
	CHECK(says("/zone:6: left out: x.rpz-foo. is not a trigger"));
	CHECK(says("/zone:7: left out: rpz-bar. is not a trigger"));
	CHECK(rules_count(p.rules) == 1);
	CHECK(strcmp(answer_of("x.rpz-foo"), "") == 0);
	CHECK(strcmp(answer_of("a.rpz-c.b"), "nxdomain") == 0);
	CHECK(p.names == 1);
	test_policy_free(&p);
	/* The same records, for another time. */
	CHECK(makes("a 10 A 10.0.0.1\nb 20 A 10.0.0.1\n"));
	CHECK(strcmp(answer_of("a"), "records 10 1 x1") == 0);
	CHECK(strcmp(answer_of("b"), "records 20 1 x1") == 0);
	test_policy_free(&p);
	/* Equal records are kept once, for all names. */
	CHECK(makes("a 10 TXT " TXT_100 "\nb 20 TXT " TXT_100 "\n"));
	two = p.size;
	test_policy_free(&p);
	CHECK(makes("a 10 TXT " TXT_100 "\nb 10 TXT " TXT_100 "\n"));
	CHECK(p.size + 100 <= two);
	test_policy_free(&p);
}

/* Ten lines, then a count; and no name is let through for it. */
TEST(what_contradicts_is_left_out)
{
	CHECK(makes("a CNAME .\na CNAME *.\na CNAME .\na CNAME rpz-odd.\n"
	    "b TXT why\nb CNAME .\nc CNAME rpz-odd.\nd CNAME rpz-odd.\n"
	    "d A 10.0.0.1\ne CNAME x.\ne CNAME y.\ne CNAME x.\n"
	    "*.f CNAME rpz-odd.\n"));
	CHECK(p.diag.errors == 0 && p.diag.warnings == 7);
	CHECK(says("/zone:2: left out: a name with a CNAME has no other records"
	    ", and this one has the CNAME of line 1"));
	CHECK(says("/zone:4: left out: a CNAME to a name \"rpz-...\""));
	CHECK(says("/zone:5: left out: a name with a CNAME"));
	CHECK(says("/zone:11: left out: a name with a CNAME"));
	CHECK(strcmp(answer_of("a"), "nxdomain") == 0);
	CHECK(strcmp(answer_of("b"), "nxdomain") == 0);
	CHECK(strcmp(answer_of("c"), "nodata") == 0);
	CHECK(strcmp(answer_of("d"), "records 30 1 x1") == 0);
	CHECK(strcmp(answer_of("e"), "cname 30 5 x1") == 0);
	CHECK(strcmp(answer_of("x.f"), "nodata") == 0);
	test_policy_free(&p);
	CHECK(makes("$GENERATE 1-25 n$ CNAME rpz-odd.\na CNAME .\n"));
	CHECK(p.diag.warnings == 11 && says("/zone: left out: 15 records more"));
	test_policy_free(&p);
}

TEST(a_zone_without_names_is_no_rule)
{
	CHECK(makes("@ SOA a. b. 1 2 3 4 5\n@ NS a.\n"));
	CHECK(p.rules == NULL && p.diag.warnings == 1);
	CHECK(says("/zone: has no names"));
	test_policy_free(&p);
}

/* So many names; with addresses, each has its own. */
static char *
numbered(size_t count, bool addresses)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		abort();
	for (size_t i = 0; i < count; i++)
		if (addresses)
			(void)fprintf(out, "n%zu 60 A 10.%zu.%zu.%zu\n",
			    i, i >> 16, i >> 8 & 255, i & 255);
		else
			(void)fprintf(out, "n%zu CNAME .\n", i);
	(void)fclose(out);
	return text;
}

TEST(there_are_limits)
{
	char *text = numbered(RULE_NAMES_MAX + 1, false);

	CHECK(!makes(text));
	CHECK(says("/zone: more than 1000000 names"));
	test_policy_free(&p);
	free(text);
	CHECK(makes("$GENERATE 0-1100 a A 10.0.${0,1,d}.1\n") == false);
	test_policy_free(&p);
	CHECK(makes("$GENERATE 0-255 a A 10.0.0.$\n$GENERATE 0-255 a A 10.0.1.$"
	    "\n$GENERATE 0-255 a A 10.0.2.$\n$GENERATE 0-255 a A 10.0.3.$\n"
	    "$GENERATE 0-255 a A 10.0.4.$\n"));
	CHECK(p.diag.warnings == 11 &&
	    strcmp(answer_of("a"), "records 30 1 x1024") == 0);
	test_policy_free(&p);
	CHECK(makes("$GENERATE 65300-65400 a TYPE$ \\# 1 ff\n"));
	CHECK(p.diag.warnings == 11 && answer_of("a")[0] == 'r');
	test_policy_free(&p);
}


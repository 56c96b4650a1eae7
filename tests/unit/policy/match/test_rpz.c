/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zones of policies that are refused, and what is left out of those that are not. */
#include "tests/check.h"
#include "tests/policy.h"

#define ZONE "{ name = \"z\"; format = \"rpz\"; path = \"/zone\"; " \
	"origin = \"rpz\"; }"

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

static void
all_errors_at_once(void)
{
	CHECK(!makes("$TTL x\na CNAME .\na A 10.0.0.1\nb A 10.0.0\n"
	    "c.other. CNAME .\n\nd CNAME . extra\n$FOO\n"
	    "e CNAME a.example.\ne CNAME b.example.\n"));
	CHECK(p.diag.errors == 7);
	CHECK(says("/zone:1: $TTL \"x\" is no number of seconds"));
	CHECK(says("/zone:3: a name with a CNAME has no other records") ||
	    says("/zone:2: a name with a CNAME has no other records"));
	CHECK(says("/zone:4: no record of a zone"));
	CHECK(says("/zone:5: c.other. does not end with the zone's name"));
	CHECK(says("/zone:7: no record of a zone"));
	CHECK(says("/zone:8: $FOO is not known here"));
	CHECK(says("/zone:10: a name with a CNAME has no other records"));
	test_policy_free(&p);
	CHECK(!makes("a CNAME .\n$INCLUDE /etc/passwd\n"));
	CHECK(says("/zone:2: $INCLUDE does not work in this zone"));
	test_policy_free(&p);
	CHECK(!makes("a CNAME (\n"));
	test_policy_free(&p);
}

static void
other_triggers_are_told_once(void)
{
	CHECK(makes("32.1.0.0.10.rpz-ip CNAME .\n24.0.0.0.10.rpz-ip CNAME .\n"
	    "32.1.0.0.10.rpz-client-ip CNAME .\n32.1.0.0.10.rpz-nsip CNAME .\n"
	    "ns.a.rpz-nsdname CNAME .\na TXT x\nb CNAME *.c.\n"
	    "d CNAME rpz-unknown.\ne CNAME .\n"));
	CHECK(p.diag.warnings == 7);
	CHECK(says("/zone:1: left out: triggers rpz-ip, by addresses of answers"
	    " (2 of them, this is the first)"));
	CHECK(says("/zone:3: left out: triggers rpz-client-ip"));
	CHECK(says("/zone:4: left out: triggers rpz-nsip"));
	CHECK(says("/zone:5: left out: triggers rpz-nsdname"));
	CHECK(says("/zone:6: left out: records of types other than"));
	CHECK(says("/zone:7: left out: CNAMEs to names that begin with"));
	CHECK(says("/zone:8: left out: CNAMEs to names \"rpz-...\""));
	CHECK(rules_count(p.rules) == 1);
	test_policy_free(&p);
}

static void
equal_answers_are_one_rule(void)
{
	CHECK(makes("$TTL 60\na CNAME .\nb CNAME .\n*.c CNAME .\n"
	    "d A 10.0.0.1\nd A 10.0.0.2\ne A 10.0.0.2\ne A 10.0.0.1\n"
	    "f A 10.0.0.1\ng 30 A 10.0.0.1\nh CNAME *.\nh CNAME *.\n"
	    "i CNAME x.example.\nj CNAME X.example.\n"));
	CHECK(rules_count(p.rules) == 6);
	for (unsigned int n = 1; n <= 6; n++) {
		struct rules_rule rule;

		rules_get(p.rules, n, &rule);
		CHECK(rule.name_length == 5 &&
		    memcmp(rule.name, "rpz:z", 5) == 0);
	}
	test_policy_free(&p);
}

static void
a_zone_without_names_is_no_rule(void)
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
			(void)fprintf(out, "n%zu 60 A 10.1.%zu.%zu\n", i,
			    i >> 8 & 255, i & 255);
		else
			(void)fprintf(out, "n%zu CNAME .\n", i);
	(void)fclose(out);
	return text;
}

static void
there_are_limits(void)
{
	char *text = numbered(RULE_NAMES_MAX + 1, false);

	CHECK(!makes(text));
	CHECK(says("/zone:1000001: more than 1000000 records"));
	test_policy_free(&p);
	free(text);
	text = numbered(RULE_MAX + 1, true);
	CHECK(!makes(text));
	CHECK(p.diag.errors == 1);
	test_policy_free(&p);
	free(text);
}

int
main(void)
{
	TEST(all_errors_at_once);
	TEST(other_triggers_are_told_once);
	TEST(equal_answers_are_one_rule);
	TEST(a_zone_without_names_is_no_rule);
	TEST(there_are_limits);
	return test_summary();
}

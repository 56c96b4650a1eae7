/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules that never match are told, and no others. */
#include "tests/check.h"
#include "tests/policy.h"

static struct test_policy p;

/* How many warnings the rules bring. */
static size_t
warnings(const char *rules)
{
	CHECK(test_policy_make(&p, rules, -1));
	return p.diag.warnings;
}

static bool
never(const char *first, const char *second)
{
	char *rules = NULL;
	bool told;

	if (asprintf(&rules, "{ name = \"first\"; match = { %s }; "
	    "action = \"pass\"; },\n{ name = \"second\"; match = { %s }; "
	    "action = \"refuse\"; }", first, second) < 0)
		abort();
	told = warnings(rules) == 1 && strcmp(p.diag.entries[0].text,
	    "/etc/test.conf:4: policy[1]: rule \"second\" never matches: rule "
	    "\"first\" in line 3 decides about all questions that it is for; "
	    "put it before that one, or take it out") == 0;
	CHECK(told || p.diag.warnings == 0);
	test_policy_free(&p);
	free(rules);
	return told;
}

TEST(names_are_compared)
{
	CHECK(never("", ""));
	CHECK(never("", "names = [ \"a.example\" ];"));
	CHECK(!never("names = [ \"a.example\" ];", ""));
	CHECK(never("names = [ \"*.example\" ];", "names = [ \"a.example\" ];"));
	CHECK(never("names = [ \"*.example\" ];", "names = [ \"*.example\", "
	    "\".a.example\" ];"));
	CHECK(!never("names = [ \"*.example\" ];", "names = [ \"example\" ];"));
	CHECK(!never("names = [ \"*.example\" ];", "names = [ \".example\" ];"));
	CHECK(never("names = [ \".example\" ];", "names = [ \"*.example\" ];"));
	CHECK(!never("names = [ \"a.example\" ];", "names = [ \".a.example\" ];"));
	CHECK(!never("names = [ \"a.example\" ];", "names = [ \"a.example\", "
	    "\"b.example\" ];"));
}

TEST(all_conditions_are_compared)
{
	CHECK(never("types = [ \"A\", \"MX\" ];", "types = [ \"MX\" ];"));
	CHECK(!never("types = [ \"MX\" ];", "types = [ \"A\", \"MX\" ];"));
	CHECK(never("users = [ 1, 2 ];", "users = [ 2 ]; types = [ \"A\" ];"));
	CHECK(!never("groups = [ 1, 2 ];", "users = [ 2 ];"));
	CHECK(never("clients = [ \"10.0.0.0/8\" ];",
	    "clients = [ \"10.1.0.0/16\", \"10.2.3.4\" ];"));
	CHECK(!never("clients = [ \"10.0.0.0/8\" ];",
	    "clients = [ \"10.1.0.0/16\", \"11.2.3.4\" ];"));
	CHECK(!never("clients = [ \"10.0.0.0/8\" ];",
	    "nameservers = [ \"10.1.0.0/16\" ];"));
	CHECK(never("protocols = [ \"udp\" ];", "protocols = [ \"udp\" ];"));
	CHECK(!never("protocols = [ \"udp\" ];", "protocols = [ \"tcp\" ];"));
	CHECK(!never("source = \"other\";", "source = \"mesh\";"));
	CHECK(!never("users = [ \"!1\" ];", ""));
	CHECK(never("", "users = [ \"!1\" ];"));
}

TEST(rules_that_do_not_decide_hide_none)
{
	CHECK(warnings("{ action = \"pass\"; mode = \"observe\"; }, "
	    "{ log = \"only\"; }, { rate = { limit = 5; }; }, "
	    "{ action = \"pass\"; }") == 0);
	test_policy_free(&p);
	CHECK(warnings("{ rewrite = { from = \"a.example\"; "
	    "to = \"b.example\"; }; }, { action = \"pass\"; }") == 0);
	test_policy_free(&p);
}

/* A user in two groups has the choice. */
TEST(rules_that_deny_groups_are_told)
{
	CHECK(warnings("{ name = \"g\"; match = { groups = [ 7 ]; }; "
	    "action = \"refuse\"; }") == 1 &&
	    strstr(p.diag.entries[0].text, "policy[0]: rule \"g\" denies by "
	    "group") != NULL);
	test_policy_free(&p);
	CHECK(warnings("{ match = { groups = [ 7 ]; }; action = \"pass\"; }, "
	    "{ action = \"refuse\"; }, { match = { groups = [ 8 ]; }; "
	    "action = \"refuse\"; mode = \"observe\"; }") == 1 &&
	    strstr(p.diag.entries[0].text, "never matches") != NULL);
	test_policy_free(&p);
}

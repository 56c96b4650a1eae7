/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules for several names of one question: which decides, and what it counts. */
#include "policy/match/policy_names.h"
#include "tests/check.h"
#include "tests/policy.h"

static struct test_policy p;
static struct policy_counter counters[8];
static struct policy_source source;
static struct policy_found found;
static struct policy_names names;

static struct dns_name
name_of(const char *text)
{
	struct dns_name name;

	if (name_from_text(&name, text, strlen(text)) != 0)
		abort();
	return name;
}

static void
begin(const char *text, const char *zone)
{
	static struct policy_counter *of[8];
	const uint8_t secret[RATE_SECRET] = { 1 };
	const int fd = test_file(zone);

	memset(counters, 0, sizeof(counters));
	for (size_t i = 0; i < 8; i++)
		of[i] = &counters[i];
	CHECK(test_policy_make(&p, text, fd));
	if (fd >= 0)
		(void)close(fd);
	source = (struct policy_source){ .rules = p.rules, .counters = of,
		.rates = rate_new(8, secret) };
}

static void
end(void)
{
	rate_free(source.rates);
	test_policy_free(&p);
}

/* The rule that decides about "asked", answered from "others"; 0: none. */
static unsigned int
decide_as(enum policy_scope scope, unsigned int rule, const char *asked,
    const char *const *others)
{
	const struct asker asker = { .uid = 33, .gid = 33, .family = AF_INET,
		.protocol = IPPROTO_UDP, .now = monotime_from_ms(1000000),
		.address = (const uint8_t *)"\12\0\0\1" };
	const struct dns_name name = name_of(asked);
	const struct rules_question question = { .name = &name, .type = 1,
		.asker = &asker };

	names.count = 0;
	for (; *others != NULL; others++)
		names.names[names.count++] = name_of(*others);
	policy_gather_names(&source, &question, &names, scope, rule, &found);
	return found.ruling.rule;
}

#define DECIDES(asked, ...) \
	decide_as(POLICY_WITH_ASKED, 0, asked, (const char *[]){ __VA_ARGS__, \
	    NULL })
#define AFTER(asked, ...) \
	decide_as(POLICY_AFTER_ASKED, 0, asked, (const char *[]){ \
	    __VA_ARGS__, NULL })
#define OF_RULE(rule, asked, ...) \
	decide_as(POLICY_OF_RULE, rule, asked, (const char *[]){ __VA_ARGS__, \
	    NULL })

static bool
judged(const char *text)
{
	const struct dns_name name = name_of(text);

	return found.judged.length > 0 && name_equal(&found.judged, &name);
}

TEST(rules_are_tried_in_their_order)
{
	begin("{ name = \"1\"; match = { names = [ \"ok\" ]; }; action = \"answer\"; },"
	    "{ name = \"2\"; match = { names = [ \"*.a\" ]; }; action = \"refuse\"; },"
	    "{ name = \"3\"; match = { names = [ \"*.b\", \"x.a\" ]; }; action = \"nxdomain\"; },"
	    "{ name = \"4\"; match = { names = [ \"late\" ]; }; action = \"answer\"; },"
	    "{ name = \"5\"; match = { names = [ \"www\" ]; }; cname = \"x.b\"; }", NULL);
	CHECK(DECIDES("www", "y", "z") == 5 && found.judged.length == 0);
	/* The one that denies, whichever of the names it is. */
	CHECK(DECIDES("www", "x.b") == 3 && judged("x.b"));
	CHECK(DECIDES("www", "x.b", "x.a") == 2 && judged("x.a"));
	CHECK(DECIDES("x.b", "x.a") == 2 && judged("x.a"));
	CHECK(DECIDES("x.a", "x.b") == 2 && found.judged.length == 0);
	CHECK(DECIDES("none", "x.b", "ok") == 3 && judged("x.b"));
	/* The name asked is let through before another is denied, or after. */
	CHECK(DECIDES("ok", "x.b") == 1 && found.judged.length == 0);
	CHECK(DECIDES("late", "x.b") == 3 && judged("x.b"));
	/* Another name that is let through is not denied by a later rule. */
	CHECK(DECIDES("none", "ok") == 0);
	/* After the question: what was decided stays, or is denied. */
	CHECK(AFTER("ok", "x.b") == 0);
	CHECK(AFTER("none", "x.b") == 3 && judged("x.b"));
	CHECK(AFTER("late", "x.b") == 3 && judged("x.b"));
	CHECK(AFTER("none", "y", "z") == 0);
	/* A rule's own target; one more rule that leads elsewhere is not followed. */
	CHECK(OF_RULE(5, "www", "x.b") == 3 && judged("x.b"));
	CHECK(OF_RULE(5, "www", "www") == 0);
	CHECK(OF_RULE(1, "ok", "x.b") == 3);
	end();
	/* Where a fixed CNAME leads, only earlier rules deny. */
	begin("{ name = \"1\"; match = { names = [ \"www\" ]; }; cname = \"x.b\"; },"
	    "{ name = \"2\"; match = { names = [ \"x.b\" ]; }; action = \"refuse\"; },"
	    "{ name = \"3\"; match = { names = [ \"x.o\" ]; }; "
	    "rewrite = { from = \"x.o\"; to = \"x.b\"; }; },"
	    "{ name = \"4\"; action = \"refuse\"; }", NULL);
	CHECK(OF_RULE(1, "www", "x.b") == 0);
	CHECK(OF_RULE(3, "x.o", "x.b") == 2 && judged("x.b"));
	CHECK(OF_RULE(3, "x.o", "x.c") == 4 && judged("x.c"));
	end();
}

TEST(an_exception_may_be_made_for_a_name)
{
	begin("{ name = \"1\"; match = { names = [ \"cdn.a\" ]; }; action = \"answer\"; },"
	    "{ name = \"2\"; match = { names = [ \".a\" ]; }; action = \"refuse\"; }",
	    NULL);
	CHECK(DECIDES("none", "cdn.a") == 0);
	CHECK(DECIDES("none", "cdn.a", "x.a") == 2 && judged("x.a"));
	CHECK(AFTER("none", "cdn.a") == 0);
	CHECK(AFTER("none", "x.a") == 2);
	end();
}

/* As unbound, BIND and the PowerDNS recursor do. */
TEST(in_a_zone_the_name_asked_goes_first)
{
	begin("{ name = \"z\"; format = \"rpz\"; path = \"/zone\"; origin = \"rpz\"; }",
	    "bad CNAME .\nwhite CNAME rpz-passthru.\nworse CNAME *.\n");
	CHECK(DECIDES("none", "bad") == 1 && judged("bad"));
	CHECK(DECIDES("white", "bad") == 2 && found.judged.length == 0);
	CHECK(DECIDES("worse", "bad") == 3 && found.judged.length == 0);
	CHECK(AFTER("white", "bad") == 0);
	CHECK(DECIDES("none", "white", "bad") == 1);
	end();
}

static uint64_t
count_of(unsigned int rule)
{
	return counters[rule - 1].enforced + counters[rule - 1].observed;
}

TEST(a_rule_counts_once)
{
	begin("{ name = \"1\"; match = { names = [ \".a\", \".b\" ]; }; log = \"only\"; },"
	    "{ name = \"2\"; match = { names = [ \".b\" ]; }; action = \"refuse\"; mode = \"observe\"; },"
	    "{ name = \"3\"; match = { names = [ \".a\" ]; }; action = \"refuse\"; }", NULL);
	CHECK(DECIDES("x.b", "y.b", "z.b") == 0);
	CHECK(count_of(1) == 1 && count_of(2) == 1 && count_of(3) == 0);
	CHECK(found.observed == 2 && found.is_logged);
	CHECK(DECIDES("none", "x.a", "y.b") == 3);
	CHECK(count_of(1) == 2 && count_of(2) == 2 && count_of(3) == 1);
	/* What the name asked matches has counted. */
	CHECK(AFTER("x.b", "y.b") == 0);
	CHECK(count_of(1) == 2 && count_of(2) == 2);
	CHECK(AFTER("none", "x.a") == 3);
	CHECK(count_of(1) == 3 && count_of(3) == 2);
	/* Of a rule's target: what else matches the name asked does not count. */
	CHECK(OF_RULE(1, "x.b", "y") == 0);
	CHECK(count_of(2) == 2 && found.observed == 0);
	/* One behind it that both match was not gathered for the name asked. */
	CHECK(OF_RULE(1, "x.b", "y.b") == 0);
	CHECK(count_of(1) == 3 && count_of(2) == 3 && found.observed == 2);
	end();
}

TEST(a_rate_is_taken_once)
{
	begin("{ name = \"1\"; match = { names = [ \".a\", \".b\" ]; };"
	    " rate = { limit = 2; per = \"user\"; }; },"
	    "{ name = \"2\"; match = { names = [ \".b\" ]; }; action = \"nxdomain\"; }",
	    NULL);
	/* Three names, one question; two are within. */
	CHECK(DECIDES("x.a", "y.a", "z.a") == 0);
	CHECK(DECIDES("x.a", "y.a", "z.a") == 0);
	CHECK(AFTER("x.a", "y.a") == 0);
	CHECK(DECIDES("x.a", "y.a") == 1 && found.ruling.limited);
	/* It is no way round the rate to ask by another name. */
	CHECK(DECIDES("none", "y.a") == 1 && judged("y.a"));
	CHECK(found.ruling.limited && found.ruling.action == RULE_REFUSE);
	end();
}

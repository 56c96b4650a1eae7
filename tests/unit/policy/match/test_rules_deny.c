/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules_could_deny(): what rules say of a question that cannot be read. */
#include "tests/check.h"
#include "tests/policy.h"

static struct test_policy p;
static const uint8_t client[16] = { 10, 1, 2, 3 };
static const uint8_t server[16] = { 192, 0, 2, 53 };

/* Whether the rules could deny a question of that user, of group 100. */
static bool
denies(const char *text, uid_t uid, uint8_t protocol)
{
	const struct asker asker = { .uid = uid, .gid = 100,
		.family = AF_INET, .protocol = protocol, .address = client,
		.nameserver = server };
	bool denied;

	CHECK(test_policy_make(&p, text, -1));
	denied = rules_could_deny(p.rules, &asker);
	/* Whoever is denied is somebody, and the configuration says so. */
	CHECK(!denied || rules_could_deny(p.rules, NULL));
	CHECK(!denied || policy_could_deny(&p.config->policy));
	test_policy_free(&p);
	return denied;
}

#define RULE(match, action) "{ match = { " match " }; " action " }"
#define REFUSE "action = \"refuse\";"
#define PASS "action = \"pass\";"

TEST(what_is_asked_counts_as_met)
{
	CHECK(!rules_could_deny(NULL, NULL));
	CHECK(denies(RULE("names = ( \"a\" );", REFUSE), 5, IPPROTO_UDP));
	CHECK(denies(RULE("types = ( \"A\" );", REFUSE), 5, IPPROTO_UDP));
	CHECK(denies(RULE("source = \"mesh\";", REFUSE), 5, IPPROTO_UDP));
	CHECK(denies(RULE("names = [ \"*\", \"!a\" ];",
	    REFUSE), 5, IPPROTO_UDP));
	CHECK(denies(RULE("types = [ \"!A\" ];", REFUSE), 5,
	    IPPROTO_UDP));
}

TEST(conditions_on_the_asker_are_looked_at)
{
	CHECK(denies(RULE("users = ( 5 );", REFUSE), 5, IPPROTO_UDP));
	CHECK(!denies(RULE("users = ( 5 );", REFUSE), 6, IPPROTO_UDP));
	CHECK(!denies(RULE("users = ( 5 );", REFUSE), (uid_t)-1, IPPROTO_UDP));
	CHECK(!denies(RULE("names = ( \"a\" ); users = ( 5 );", REFUSE), 6,
	    IPPROTO_UDP));
	CHECK(!denies(RULE("users = [ \"!5\" ];", REFUSE), 5,
	    IPPROTO_UDP));
	CHECK(denies(RULE("users = [ \"!5\" ];", REFUSE), (uid_t)-1,
	    IPPROTO_UDP));
	CHECK(denies(RULE("groups = ( 100 );", REFUSE), 5, IPPROTO_UDP));
	CHECK(!denies(RULE("groups = ( 101 );", REFUSE), 5, IPPROTO_UDP));
	CHECK(denies(RULE("clients = ( \"10.0.0.0/8\" );", REFUSE), 5,
	    IPPROTO_UDP));
	CHECK(!denies(RULE("clients = ( \"11.0.0.0/8\" );", REFUSE), 5,
	    IPPROTO_UDP));
	CHECK(!denies(RULE("nameservers = ( \"::1\" );", REFUSE), 5,
	    IPPROTO_UDP));
	CHECK(denies(RULE("protocols = ( \"tcp\" );", REFUSE), 5,
	    IPPROTO_TCP));
	CHECK(!denies(RULE("protocols = ( \"tcp\" );", REFUSE), 5,
	    IPPROTO_UDP));
	CHECK(denies(RULE("protocols = ( \"tcp\" );", REFUSE), 5, 0));
}

TEST(only_rules_that_deny_count)
{
	CHECK(!denies(RULE("", PASS), 5, IPPROTO_UDP));
	CHECK(!denies(RULE("", "action = \"answer\";"), 5, IPPROTO_UDP));
	CHECK(!denies(RULE("", REFUSE " mode = \"observe\";"), 5,
	    IPPROTO_UDP));
	CHECK(!denies(RULE("", "log = \"only\";"), 5, IPPROTO_UDP));
	CHECK(denies(RULE("", "action = \"drop\";"), 5, IPPROTO_UDP));
	CHECK(denies(RULE("", "addresses = ( \"192.0.2.1\" );"), 5,
	    IPPROTO_UDP));
	CHECK(denies(RULE("", "only = \"A\";"), 5, IPPROTO_UDP));
	CHECK(denies(RULE("", "rate = { limit = 5; };"), 5,
	    IPPROTO_UDP));
	CHECK(denies(RULE("", PASS " rate = { limit = 5; };"), 5,
	    IPPROTO_UDP));
}

/* Only zones of policies have the action that cuts answers over UDP. */
TEST(a_rule_for_tcp_only_denies_over_udp)
{
	int zone = test_file("x CNAME rpz-tcp-only.\n");
	struct asker asker = { .protocol = IPPROTO_UDP };

	CHECK(test_policy_make(&p, "{ name = \"z\"; format = \"rpz\"; "
	    "path = \"/z\"; origin = \"z\"; }", zone));
	CHECK(policy_could_deny(&p.config->policy));
	CHECK(rules_could_deny(p.rules, NULL));
	CHECK(rules_could_deny(p.rules, &asker));
	asker.protocol = IPPROTO_TCP;
	CHECK(!rules_could_deny(p.rules, &asker));
	test_policy_free(&p);
	(void)close(zone);
}

/* An administrator whom the first rule allows everything, and so on. */
TEST(an_allowing_rule_before_ends_the_search)
{
#define ADMINS RULE("users = ( 0 );", PASS) ", "
#define ALL_REFUSED RULE("", REFUSE)
	CHECK(!denies(ADMINS ALL_REFUSED, 0, IPPROTO_UDP));
	CHECK(denies(ADMINS ALL_REFUSED, 5, IPPROTO_UDP));
	CHECK(denies(ALL_REFUSED ", " RULE("users = ( 0 );", PASS), 0,
	    IPPROTO_UDP));
	/* One that allows some questions, or some protocol, allows too few. */
	CHECK(denies(RULE("names = ( \"a\" );", PASS) ", " ALL_REFUSED, 0,
	    IPPROTO_UDP));
	CHECK(denies(RULE("protocols = ( \"udp\" );", PASS) ", " ALL_REFUSED,
	    0, 0));
	CHECK(!denies(RULE("protocols = ( \"udp\" );", PASS) ", " ALL_REFUSED,
	    0, IPPROTO_UDP));
	CHECK(test_policy_make(&p, RULE("", PASS) ", " ALL_REFUSED, -1));
	CHECK(!rules_could_deny(p.rules, NULL));
	test_policy_free(&p);
}

/* As many rules as "count" with users of their own, then one for all. */
static bool
many(size_t count, uid_t uid)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool denied;

	for (size_t i = 0; i < count; i++)
		(void)fprintf(out, "{ match = { names = ( \"n%zu\" ); users = "
		    "( %zu ); }; action = \"drop\"; }%s", i, 1000 + i,
		    i + 1 < count ? ", " : "");
	(void)fclose(out);
	denied = denies(text, uid, IPPROTO_UDP);
	free(text);
	return denied;
}

TEST(conditions_beyond_the_room_deny_anybody)
{
	CHECK(many(RULES_TRIES, 1000 + RULES_TRIES - 1));
	CHECK(!many(RULES_TRIES, 1000 + RULES_TRIES));
	CHECK(many(RULES_TRIES + 1, 7));
}

#define MANY ((size_t)3 * RULES_TRIES)

TEST(equal_conditions_are_kept_once)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < MANY; i++)
		(void)fprintf(out, "{ match = { names = ( \"n%zu\" ); users = "
		    "( %zu ); }; action = \"drop\"; }%s", i, 1000 + i % 1000,
		    i + 1 < MANY ? ", " : "");
	(void)fclose(out);
	CHECK(denies(text, 1999, IPPROTO_UDP));
	CHECK(!denies(text, 2000, IPPROTO_UDP));
	free(text);
}

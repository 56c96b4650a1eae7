/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of rules that cannot be used: what stands in for them (issue 22, item 7). */
#include "policy/match/rules_feeds.h"
#include "tests/check.h"
#include "tests/policy.h"

#define LIST(action, more) "{ name = \"l\"; match = { names = ( \"@/names\" ); " \
	more " }; action = \"" action "\"; }"
#define ZONE "{ name = \"z\"; format = \"rpz\"; path = \"/zone\"; " \
	"origin = \"rpz\"; }"
#define REST ", { name = \"rest\"; match = { names = ( \"own.example\" ); }; " \
	"action = \"drop\"; }"

static struct test_policy p;
static struct rules_feed feed;
static struct rules_feed_input input;

/* Compiles the rules with these texts of their one file; NULL: there is none. */
static void
build(const char *rules, bool refuse, const char *file, const char *kept)
{
	char *whole = NULL;
	const char *why;

	p = (struct test_policy){ .diag = DIAG_INIT };
	memset(&feed, 0, sizeof(feed));
	CHECK(asprintf(&whole, "user = 65533;\npolicy_unloaded = \"%s\";\n"
	    "policy = (\n%s );\n", refuse ? "refuse" : "pass", rules) > 0);
	CHECK(config_parse(&p.config, "/etc/test.conf", whole, strlen(whole),
	    &p.diag) == 0);
	free(whole);
	input.file = test_file(file);
	input.kept = test_file(kept);
	CHECK(rules_feeds_build(&(struct rules_feeds_job){
	    .policy = &p.config->policy, .path = "/etc/test.conf",
	    .inputs = &input, .limit = 50 }, &feed, &p.diag, &p.octets,
	    &p.size) == 0);
	CHECK(p.diag.errors == 0);
	CHECK(rules_open(&p.rules, p.octets, p.size, &why) == 0);
}

static void
drop(void)
{
	(void)close(input.file);
	(void)close(input.kept);
	memset(&input, 0, sizeof(input));
	rules_feeds_clear(&feed, 1);
	test_policy_free(&p);
}

/* The action of the first rule that matches; RULE_ACTIONS: none. */
static enum rule_action
action(const char *name, bool mesh)
{
	static const struct asker asker = { .family = AF_INET };
	struct rules_question question = { .type = 1, .mesh = mesh,
		.asker = &asker };
	struct rules_cursor cursor;
	struct rules_rule rule;
	struct dns_name lower;
	unsigned int number;

	CHECK(name_from_text(&lower, name, strlen(name)) == 0);
	question.name = &lower;
	if (p.rules == NULL)
		return RULE_ACTIONS;
	rules_begin(&cursor, p.rules, &question);
	number = rules_next(&cursor);
	if (number == 0)
		return RULE_ACTIONS;
	rules_get(p.rules, number, &rule);
	return rule.action;
}

/* A kept file; the caller frees it. */
static char *
keep(const char *text, uint64_t names)
{
	struct feed_header header = { .format = RULES_FEED_FORMAT, .time = 1,
		.names = names, .length = strlen(text),
		.hash = feed_file_hash(text, strlen(text)) };
	char head[FEED_FILE_HEADER_MAX], *all = NULL;

	(void)feed_file_header_write(&header, head);
	CHECK(asprintf(&all, "%s%s", head, text) > 0);
	return all;
}

static void
unloaded_pass_is_no_names(void)
{
	build(LIST("refuse", "") REST, false, NULL, NULL);
	CHECK(feed.state == RULES_FEED_UNLOADED && feed.text == NULL);
	CHECK(action("x.example", false) == RULE_ACTIONS);
	CHECK(action("own.example", false) == RULE_DROP);
	drop();
	build(ZONE REST, false, "x CNAME (\n", NULL);
	CHECK(feed.state == RULES_FEED_UNLOADED && feed.why[0] != '\0');
	CHECK(action("x", false) == RULE_ACTIONS);
	drop();
}

static void
unloaded_refuse_is_what_it_could_decide(void)
{
	static const char *const denies[] = { LIST("nxdomain", "") REST,
		LIST("drop", "") REST, ZONE REST };

	for (size_t i = 0; i < 3; i++) {
		build(denies[i], true, NULL, NULL);
		CHECK(action("x.example", false) == RULE_REFUSE);
		CHECK(action("x.mesh", true) == RULE_ACTIONS);
		CHECK(action("own.example", true) == RULE_DROP);
		drop();
	}
	/* Only its askers; and names of the mesh if it is for these. */
	build(LIST("refuse", "users = ( 7 );") REST, true, NULL, NULL);
	CHECK(action("x.example", false) == RULE_ACTIONS);
	drop();
	build(LIST("refuse", "source = \"mesh\";") REST, true, NULL, NULL);
	CHECK(action("x.mesh", true) == RULE_REFUSE);
	CHECK(action("x.example", false) == RULE_ACTIONS);
	drop();
	/* What names it has beside the file's stay denied, of the mesh too. */
	build("{ match = { names = ( \"@/names\", \"y.mesh\" ); }; "
	    "action = \"nxdomain\"; }", true, NULL, NULL);
	CHECK(action("y.mesh", true) == RULE_NXDOMAIN);
	CHECK(action("x.mesh", true) == RULE_ACTIONS);
	CHECK(action("x.example", false) == RULE_REFUSE);
	drop();
}

static void
what_allows_needs_its_names(void)
{
	static const char all[] = ", { name = \"all\"; match = { }; "
	    "action = \"refuse\"; }";
	char rules[512];

	for (int refuse = 0; refuse < 2; refuse++) {
		(void)snprintf(rules, sizeof(rules), "%s%s",
		    LIST("answer", ""), all);
		build(rules, refuse != 0, NULL, NULL);
		CHECK(action("x.example", false) == RULE_REFUSE);
		drop();
	}
	/* Its exceptions are not known: it allows nothing. */
	(void)snprintf(rules, sizeof(rules), "%s%s", "{ match = { names = "
	    "[ \"!@/names\" ]; }; action = \"pass\"; }", all);
	build(rules, true, NULL, NULL);
	CHECK(action("x.example", false) == RULE_REFUSE);
	drop();
	/* One that only observes decides nothing. */
	build("{ match = { names = ( \"@/names\" ); }; action = \"drop\"; "
	    "mode = \"observe\"; }", true, NULL, NULL);
	CHECK(action("x.example", false) == RULE_ACTIONS);
	drop();
}

static void
kept_ones_stand_in(void)
{
	char *kept = keep("bad.example\n", 1);

	build(LIST("drop", ""), true, NULL, kept);
	CHECK(feed.state == RULES_FEED_KEPT && feed.names == 1);
	CHECK(action("bad.example", false) == RULE_DROP);
	CHECK(action("x.example", false) == RULE_ACTIONS);
	drop();
	free(kept);
	kept = keep("bad.example CNAME .\n", 1);
	build(ZONE, false, "good.example CNAME .\nx CNAME (\n", kept);
	CHECK(feed.state == RULES_FEED_KEPT);
	CHECK(strncmp(feed.why, "/zone:2: ", 9) == 0);
	CHECK(action("bad.example", false) == RULE_NXDOMAIN);
	CHECK(action("good.example", false) == RULE_ACTIONS);
	drop();
	free(kept);
	kept = keep("bad.example\n", 1);
	/* Another one is to be kept, the same is not. */
	build(LIST("drop", ""), false, "other.example\n", kept);
	CHECK(feed.state == RULES_FEED_CURRENT && feed.text != NULL);
	drop();
	build(LIST("drop", ""), false, "bad.example\n", kept);
	CHECK(feed.state == RULES_FEED_CURRENT && feed.text == NULL);
	drop();
	/* The last name is not lost, unless that is forced. */
	build(LIST("drop", ""), false, "# none\n", kept);
	CHECK(feed.state == RULES_FEED_HELD);
	CHECK(action("bad.example", false) == RULE_DROP);
	drop();
	input.accepted = feed_file_hash("# none\n", 7);
	build(LIST("drop", ""), false, "# none\n", kept);
	CHECK(feed.state == RULES_FEED_HELD);
	drop();
	input.forced = true;
	build(LIST("drop", ""), false, "# none\n", kept);
	CHECK(feed.state == RULES_FEED_CURRENT);
	drop();
	/* Damaged. */
	kept[strlen(kept) - 3] ^= 1;
	build(LIST("drop", ""), false, NULL, kept);
	CHECK(feed.state == RULES_FEED_UNLOADED && p.diag.warnings == 1);
	drop();
	free(kept);
}

static void
lost_names_are_held(void)
{
	char *kept = keep("a.example\nb.example\n", 1000);

	build(LIST("drop", ""), false, "c.example\n", kept);
	CHECK(feed.state == RULES_FEED_HELD && strstr(feed.why,
	    "shrink_limit") != NULL);
	CHECK(action("b.example", false) == RULE_DROP);
	CHECK(action("c.example", false) == RULE_ACTIONS);
	drop();
	input.accepted = feed_file_hash("c.example\n", 10);
	build(LIST("drop", ""), false, "c.example\n", kept);
	CHECK(feed.state == RULES_FEED_CURRENT && feed.text != NULL);
	CHECK(action("c.example", false) == RULE_DROP);
	drop();
	free(kept);
	/* Kept ones that are of no use are no reason to use none. */
	kept = keep("a CNAME (\n", 1000);
	build(ZONE, false, "c.example CNAME .\n", kept);
	CHECK(feed.state == RULES_FEED_CURRENT);
	CHECK(action("c.example", false) == RULE_NXDOMAIN);
	drop();
	free(kept);
}

int
main(void)
{
	TEST(unloaded_pass_is_no_names);
	TEST(unloaded_refuse_is_what_it_could_decide);
	TEST(what_allows_needs_its_names);
	TEST(kept_ones_stand_in);
	TEST(lost_names_are_held);
	return test_summary();
}

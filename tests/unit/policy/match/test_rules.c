/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdint.h>

#include "resolver/dns/rr.h"
#include "tests/check.h"
#include "tests/policy.h"

static struct test_policy p;
static struct dns_name name;
static struct asker asker;
static struct rules_question question;

/* A question of a user, over UDP, on a Thursday at midnight UTC. */
static void
ask(const char *text, uint16_t type)
{
	static const uint8_t client[16] = { 10, 1, 2, 3 };
	static const uint8_t server[16] = { 192, 0, 2, 53 };

	CHECK(name_from_text(&name, text, strlen(text)) == 0);
	name_lower(&name);
	asker = (struct asker){ .uid = 1000, .gid = 100, .family = AF_INET,
		.protocol = IPPROTO_UDP, .address = client,
		.nameserver = server };
	question = (struct rules_question){ .name = &name,
		.type = type, .asker = &asker };
}

/* The numbers of all rules that match, "1 3". */
static const char *
matching(void)
{
	static char text[2000];
	struct rules_cursor cursor;
	unsigned int number;
	size_t n = 0;

	text[0] = '\0';
	rules_begin(&cursor, p.rules, &question);
	while ((number = rules_next(&cursor)) != 0 && n < sizeof(text) - 8)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u",
		    n > 0 ? " " : "", number);
	return text;
}

static bool
matches(const char *asked, const char *expected)
{
	const char *found;

	ask(asked, TYPE_A);
	found = matching();
	if (strcmp(found, expected) != 0)
		printf("  %s: \"%s\", not \"%s\"\n", asked, found, expected);
	return strcmp(found, expected) == 0;
}

#define RULE(match) "{ match = { " match " }; action = \"pass\"; }"
#define ALL "{ action = \"pass\"; }"

/* Behind the rules stands an option; test_policy_make() closes what comes last. */
TEST(a_file_that_is_not_loaded_refuses)
{
	CHECK(test_policy_make(&p, RULE("names = ( \"@/names\", \"kept\" );")
	    ", { match = { names = ( \"@/names\" ); types = [ \"A\" ]; };"
	    "    action = \"nxdomain\"; rate = { limit = 1; }; },"
	    "  { match = { names = ( \"@/names\" ); types = [ \"TXT\" ]; };"
	    "    action = \"drop\"; mode = \"observe\"; },"
	    "  { match = { names = ( \"*\", \"!@/names\" ); };"
	    "    action = \"answer\"; } );"
	    "policy_unloaded = \"refuse\"; audit = (", -1));
	CHECK(matches("kept", "1 3"));
	CHECK(matches("other", "3"));		/* of rule 2: its refusal */
	{
		struct rules_rule rule;

		rules_get(p.rules, 3, &rule);
		CHECK(rule.action == RULE_REFUSE);
	}
	ask("other", TYPE_TXT);
	CHECK(strcmp(matching(), "") == 0);
	test_policy_free(&p);
}

static bool
has_error(const char *text)
{
	for (size_t i = 0; i < p.diag.kept; i++)
		if (strstr(p.diag.entries[i].text, text) != NULL)
			return true;
	return false;
}

TEST(the_first_ten_lines_are_told_and_all_are_counted)
{
	char text[4000] = "one.example\n";
	int file;

	for (int i = 0; i < 1000; i++)
		memcpy(text + 12 + 3 * i, "a/\n", 4);
	file = test_file(text);
	CHECK(test_policy_make(&p, RULE("names = ( \"@/names\" );"), file));
	CHECK(p.diag.warnings == 11 && p.diag.notes == 1);
	CHECK(has_error("/names:11: not read: \"a/\""));
	CHECK(!has_error("/names:12:"));
	CHECK(has_error("/names: 1000 lines are not read; the first 10"));
	test_policy_free(&p);
	(void)close(file);
	/* A list of nothing else. */
	file = test_file(text + strlen("one.example\n"));
	CHECK(!test_policy_make(&p, RULE("names = ( \"@/names\" );"), file));
	CHECK(has_error("/names: is not a list of names that can be read"));
	test_policy_free(&p);
	(void)close(file);
	/* The blocks that a crash has left unwritten. */
	file = memfd_create("names", MFD_CLOEXEC);
	CHECK(write(file, "one.example\n\0\0\0\0", 16) == 16);
	CHECK(!test_policy_make(&p, RULE("names = ( \"@/names\" );"), file));
	CHECK(has_error("/names: has an octet of the value 0"));
	test_policy_free(&p);
	(void)close(file);
}

/* Lists for IPv4 and IPv6 have every name twice; formats may be mixed. */
TEST(a_name_counts_once)
{
	int file = test_file("\xef\xbb\xbf" "0.0.0.0 a.example\n:: a.example\n"
	    "||a.example^\nA.EXAMPLE\nb.example\n");

	CHECK(test_policy_make(&p, RULE("names = ( \"@/names\" );"), file));
	CHECK(p.diag.warnings == 0 && has_error("/names: 2 names"));
	CHECK(matches("a.example", "1"));
	CHECK(matches("x.a.example", "1"));
	CHECK(matches("b.example", "1"));
	CHECK(matches("x.b.example", ""));
	test_policy_free(&p);
	(void)close(file);
	file = test_file("\xff\xfe" "a");
	CHECK(!test_policy_make(&p, RULE("names = ( \"@/names\" );"), file));
	CHECK(p.diag.errors == 1 && has_error("/names: is UTF-16 text"));
	test_policy_free(&p);
	(void)close(file);
}

TEST(a_file_has_four_million_names_at_most)
{
	const size_t most = 1000000;
	int file = memfd_create("names", MFD_CLOEXEC);
	FILE *out = fdopen(dup(file), "w");

	for (size_t i = 0; i < most; i++)
		(void)fprintf(out, "n%zu.example\n", i);
	(void)fflush(out);
	CHECK(test_policy_make(&p, RULE("names = ( \"@/names\" );"), file));
	CHECK(matches("n0.example", "1"));
	CHECK(matches("n999999.example", "1"));
	CHECK(matches("n1000000.example", ""));
	CHECK(matches("n17.n18.example", ""));
	printf("figure: %zu octets for %zu names\n", p.size, most);
	test_policy_free(&p);
	/* Several on a line. */
	for (size_t i = most; i <= RULE_LIST_MAX; i += 2)
		(void)fprintf(out, "0.0.0.0 n%zu.example n%zu.example\n", i,
		    i + 1);
	(void)fflush(out);
	CHECK(!test_policy_make(&p, RULE("names = ( \"@/names\" );"), file));
	CHECK(has_error("/names:2500001: more than 4000000 names"));
	test_policy_free(&p);
	for (size_t i = 0; i < RULE_LIST_MAX / 2; i++)
		(void)fprintf(out, "#\n");
	(void)fclose(out);
	CHECK(!test_policy_make(&p, RULE("names = ( \"@/names\" );"), file));
	CHECK(has_error("/names: has more than 4000000 lines"));
	test_policy_free(&p);
	(void)close(file);
}

/* Issue 23, 20: whatever number a process has, or if it has none. */
TEST(who_is_not_there_is_nobody)
{
	static const uint32_t numbers[] = { 0, 65534, UINT32_MAX - 1,
		UINT32_MAX };

	CHECK(test_policy_make(&p, RULE("users = ( \"no-such-user-1\" );") ","
	    RULE("groups = ( \"no-such-group\" );") ","
	    RULE("users = ( \"no-such-user-1\", 7 );") ","
	    RULE("users = [ \"!no-such-user-1\" ];") ","
	    RULE("groups = [ \"!no-such-group\" ];"), -1));
	CHECK(matches("a", "4 5"));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		asker.uid = asker.gid = numbers[i];
		CHECK(strcmp(matching(), "4 5") == 0);
	}
	asker.uid = 7;
	CHECK(strcmp(matching(), "3 4 5") == 0);
	test_policy_free(&p);
}

TEST(a_miss_is_explained)
{
	struct rules_miss miss;

	CHECK(test_policy_make(&p, RULE("names = ( \"a\" ); types = ( \"A\" );")
	    "," RULE("users = [ \"!1000\" ];"), -1));
	ask("a", TYPE_A);
	CHECK(rules_matches(p.rules, 1, &question, &miss));
	question.type = TYPE_MX;
	CHECK(!rules_matches(p.rules, 1, &question, &miss));
	CHECK(miss.key == RULE_TYPES && !miss.negated);
	ask("b", TYPE_MX);
	CHECK(!rules_matches(p.rules, 1, &question, &miss));
	CHECK(miss.key == RULE_NAMES && !miss.negated);
	CHECK(!rules_matches(p.rules, 2, &question, &miss));
	CHECK(miss.key == RULE_USERS && miss.negated);
	test_policy_free(&p);
}

TEST(names_are_rewritten)
{
	char longest[256], text[NAME_TEXT_SIZE];
	struct rules_rule rule;
	struct dns_name to;

	CHECK(test_policy_make(&p, "{ rewrite = { from = \"*.old\"; to = "
	    "\"*.new.example\"; }; }, { rewrite = { from = \"one\"; to = "
	    "\"two\"; }; }, { match = { names = ( \"*.x.old\" ); }; rewrite = "
	    "{ from = \"*.old\"; to = \"all\"; }; }", -1));
	CHECK(matches("a.b.old", "1"));
	rules_get(p.rules, 1, &rule);
	CHECK(rules_rewrite(&rule, &name, &to));
	CHECK(strcmp(name_to_text(to.octets, text), "a.b.new.example.") == 0);
	CHECK(matches("old", ""));
	CHECK(matches("one", "2"));
	CHECK(matches("x.one", ""));
	CHECK(matches("a.x.old", "1 3"));
	rules_get(p.rules, 3, &rule);
	CHECK(rules_rewrite(&rule, &name, &to));
	CHECK(strcmp(name_to_text(to.octets, text), "all.") == 0);
	/* 249 octets in front leave no room for the new end. */
	memset(longest, 'a', sizeof(longest));
	for (size_t i = 61; i < 249; i += 62)
		longest[i] = '.';
	memcpy(longest + 244, ".old", 5);
	ask(longest, TYPE_A);
	rules_get(p.rules, 1, &rule);
	CHECK(strcmp(matching(), "1") == 0);
	CHECK(!rules_rewrite(&rule, &name, &to));
	test_policy_free(&p);
}

/* So many rules that all questions try. */
static char *
rules_for_all(size_t count)
{
	static const char one[] = ALL ", ";
	char *text = calloc(count, sizeof(one) - 1);

	for (size_t i = 0; i < count; i++)
		memcpy(text + i * (sizeof(one) - 1), one, sizeof(one) - 1);
	text[count * (sizeof(one) - 1) - 2] = '\0';
	return text;
}

TEST(no_question_tries_too_many)
{
	char *text = rules_for_all(RULES_TRIES), *more;

	CHECK(test_policy_make(&p, text, -1));
	test_policy_free(&p);
	free(text);
	text = rules_for_all(RULES_TRIES + 1);
	CHECK(!test_policy_make(&p, text, -1));
	CHECK(has_error("1025 rules would have to be tried for one question"));
	test_policy_free(&p);
	free(text);
	/* Those of a user are tried beside those for all. */
	text = rules_for_all(RULES_TRIES);
	CHECK(asprintf(&more, "%s, { match = { users = [ 5 ]; }; "
	    "action = \"refuse\"; }", text) > 0);
	CHECK(!test_policy_make(&p, more, -1));
	CHECK(has_error("1025 rules would have to be tried for one question"));
	test_policy_free(&p);
	free(more);
	free(text);
}

TEST(no_rules_are_no_octets)
{
	struct rules *rules;
	const char *why;

	CHECK(test_policy_make(&p, "", -1));
	CHECK(p.octets == NULL && p.size == 0 && p.rules == NULL);
	test_policy_free(&p);
	CHECK(rules_open(&rules, NULL, 0, &why) == 0 && rules == NULL);
	CHECK(rules_count(NULL) == 0);
}

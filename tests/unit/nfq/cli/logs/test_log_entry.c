/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line of the format json, as the daemon writes it and as others may. */
#include "nfq/cli/logs/log_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "policy/audit/format.h"
#include "tests/check.h"

#define ASKED	"\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\4mesh\0\0\1\0\1"
#define ANSWERED "\x12\x34\x85\x80\0\1\0\2\0\0\0\0\1a\4mesh\0\0\1\0\1" \
    "\xc0\x0c\0\1\0\1\0\0\0\x1e\0\4\12\0\0\1\xc0\x0c\0\1\0\1\0\0\0\x1e\0\4\12\0\0\2"

static struct json_tree tree = JSON_TREE_INIT;
static struct log_entry entry;

static bool
is(const char *line, const char *expected)
{
	const bool read = log_entry_read(&entry, &tree, line, strlen(line));
	char text[1000] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	if (read)
		log_entry_print(&entry, false, out);
	(void)fclose(out);
	text[strcspn(text, "\n")] = '\0';
	if (read && expected != NULL && strcmp(text, expected) != 0)
		printf("# %s\n", text);
	return expected == NULL ? !read : read && strcmp(text, expected) == 0;
}

/* As the daemon writes it. */
TEST(lines_of_the_daemon)
{
	struct audit_record record = {
		.time_ns = UINT64_C(1700000000123000000),
		.uid = 33,
		.gid = 33,
		.family = AF_INET,
		.client = { 192, 0, 2, 7 },
		.verdict = VERDICT_ANSWER,
		.reason = REASON_RECORD,
		.stream = true,
		.rule = "no \"ads\"",
		.rule_length = 8,
		.question = (const uint8_t *)ASKED,
		.question_length = sizeof(ASKED) - 1,
		.answer = (const uint8_t *)ANSWERED,
		.answer_length = sizeof(ANSWERED) - 1,
	};
	static char line[AUDIT_JSON_MAX];
	struct audit_json json = { .second.length = 0 };
	size_t length;

	length = audit_json(&json, &record, line, sizeof(line));
	line[length - 1] = '\0';
	CHECK(is(line, "2023-11-14 22:13:20.123 answer   192.0.2.7 uid 33 A     "
	    "a.mesh. 10.0.0.1, 10.0.0.2 (record, TCP, rule no \"ads\")"));
	record.is_private = true;
	record.uid = (uid_t)-1;
	length = audit_json(&json, &record, line, sizeof(line));
	line[length - 1] = '\0';
	CHECK(is(line, "2023-11-14 22:13:20.123 answer   - A     a.mesh. "
	    "10.0.0.1, 10.0.0.2 (record, TCP, rule no \"ads\")"));
	record.verdict = VERDICT_REFUSE;
	record.reason = REASON_MANY_QUESTIONS;
	record.rcode = 1;
	record.rule_length = 0;
	record.answer_length = 12;
	record.uid = (uid_t)-1;
	length = audit_json(&json, &record, line, sizeof(line));
	line[length - 1] = '\0';
	CHECK(strstr(line, "REFUSED") == NULL);
	CHECK(log_entry_read(&entry, &tree, line, length - 1));
	CHECK(strcmp(entry.verdict, "refuse") == 0);
	CHECK(entry.uid == (uid_t)-1 && entry.rule == NULL);
}

TEST(older_lines)
{
	CHECK(is("{\"timestamp\":\"2023-11-14T22:13:20.5+0000\",\"src_ip\":"
	    "\"::1\",\"dns\":{\"rrname\":\"a.mesh\",\"rrtype\":\"A\"},"
	    "\"nfdns\":{\"decision\":\"pass\",\"reason\":\"not-mesh\"}}",
	    "2023-11-14 22:13:20.000 pass     ::1 A     a.mesh. (not-mesh)"));
}

TEST(others_are_left_out)
{
	CHECK(is("", NULL));
	CHECK(is("no JSON", NULL));
	CHECK(is("[1]", NULL));
	CHECK(is("{\"event_type\":\"stats\",\"nfdns\":{\"lost\":3}}", NULL));
	CHECK(is("{\"dns\":{},\"nfdns\":{\"decision\":1,\"reason\":\"x\"}}",
	    NULL));
}

/* Issue 23, 14: no octet of a log controls the terminal, whatever the member. */
TEST(hostile_lines)
{
	CHECK(is("{\"dns\":{\"rrname\":\"\\u001b[2J\",\"rrtype\":\"A\\u001bc\","
	    "\"answers\":[{\"rdata\":\"\\u0007\"},{\"rdata\":1},3],"
	    "\"rcode\":\"\\u001b[R\"},"
	    "\"src_ip\":\"\\u001b\",\"nfdns\":{\"decision\":\"\\u001b[5n\","
	    "\"reason\":\"\\u001b]0;x\\u0007\",\"rule\":\"\\u009b\","
	    "\"observed\":\"\\u007f\",\"would\":\"\\u001b[1m\"}}",
	    "1970-01-01 00:00:00.000 \\x1b[5n  \\x1b A\\x1bc \\x1b[2J. \\x07"
	    " (\\x1b]0;x\\x07, \\x1b[R, rule \\xc2\\x9b, would \\x1b[1m by "
	    "\\x7f)"));
}

int
main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	test_run();
	json_tree_free(&tree);
	return test_summary();
}

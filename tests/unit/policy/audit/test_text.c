/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record as the line that a person reads. */
#include "policy/audit/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "tests/check.h"

#define ASKED	"\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\4mesh\0"
#define ANSWERED(count)	"\x12\x34\x85\x80\0\1\0" count "\0\0\0\0\1a\4mesh\0\0\1\0\1"
#define OCTETS(text)	(const uint8_t *)(text), sizeof(text) - 1

static char line[AUDIT_TEXT_MAX];

static struct audit_record
record(const uint8_t *question, size_t length)
{
	return (struct audit_record){
		.time_ns = UINT64_C(1700000000123456789),
		.uid = (uid_t)-1,
		.gid = (gid_t)-1,
		.client_port = 40000,
		.server_port = 53,
		.family = AF_INET,
		.client = { 192, 0, 2, 7 },
		.verdict = VERDICT_PASS,
		.reason = REASON_NOT_MESH,
		.question = question,
		.question_length = (uint16_t)length,
	};
}

static bool
is(const struct audit_record *r, const char *text)
{
	const size_t length = audit_text(r, false, line);

	if (length != strlen(line) || strcmp(line, text) != 0)
		printf("# %s\n", line);
	return length == strlen(line) && strcmp(line, text) == 0;
}

static void
set_answer(struct audit_record *r, const uint8_t *answer, size_t length)
{
	r->verdict = VERDICT_ANSWER;
	r->reason = REASON_RECORD;
	r->answer = answer;
	r->answer_length = (uint16_t)length;
}

static void
says_who_asked_what(void)
{
	struct audit_record r = record(OCTETS(ASKED "\0\1\0\1"));

	CHECK(is(&r, "2023-11-14 22:13:20.123 pass     192.0.2.7 A     a.mesh."
	    " (not-mesh)"));
	r.uid = 33;
	r.stream = true;
	r.family = AF_INET6;
	memset(r.client, 0, sizeof(r.client));
	r.client[15] = 1;
	CHECK(is(&r, "2023-11-14 22:13:20.123 pass     ::1 uid 33 A     a.mesh."
	    " (not-mesh, TCP)"));
}

static void
says_what_was_answered(void)
{
	struct audit_record r = record(OCTETS(ASKED "\0\1\0\1"));

	set_answer(&r, OCTETS(ANSWERED("\2")
	    "\xc0\x0c\0\5\0\1\0\0\0\x1e\0\4\1b\xc0\x0e"
	    "\1b\xc0\x0e\0\1\0\1\0\0\0\x1e\0\4\12\0\0\1"));
	CHECK(is(&r, "2023-11-14 22:13:20.123 answer   192.0.2.7 A     a.mesh."
	    " b.mesh., 10.0.0.1 (record)"));
	set_answer(&r, OCTETS(ANSWERED("\2")
	    "\xc0\x0c\0\x10\0\1\0\0\0\x1e\0\7\3a\"\1\2hi"
	    "\xc0\x0c\0\x41\0\1\0\0\0\x1e\0\3abc"));
	CHECK(is(&r, "2023-11-14 22:13:20.123 answer   192.0.2.7 A     a.mesh."
	    " \"a\\\"\\001\" \"hi\", HTTPS(3 octets) (record)"));
}

static void
says_what_is_unusual(void)
{
	struct audit_record r = record(OCTETS(ASKED "\0\1\0\1"));

	r.verdict = VERDICT_REFUSE;
	r.reason = REASON_FORWARD_FULL;
	r.rcode = 5;
	r.rule = "no\x1b[2J";
	r.rule_length = 6;
	CHECK(is(&r, "2023-11-14 22:13:20.123 refuse   192.0.2.7 A     a.mesh."
	    " (forward-full, REFUSED, rule no\\x1b[2J)"));
	set_answer(&r, OCTETS("\x12\x34\x87\x80\0\1\0\0\0\0\0\0\1a\4mesh\0\0\1\0\1"));
	r.rcode = 0;
	r.rule_length = 0;
	r.observer = "soon";
	r.observer_length = 4;
	r.would = RULE_NXDOMAIN;
	CHECK(is(&r, "2023-11-14 22:13:20.123 answer   192.0.2.7 A     a.mesh."
	    " (record, TC, would nxdomain by soon)"));
}

static void
bad_messages_are_said_to_be(void)
{
	struct audit_record r = record(OCTETS("\x12\x34\1"));

	CHECK(is(&r, "2023-11-14 22:13:20.123 pass     192.0.2.7 (no question)"
	    " (not-mesh)"));
	r = record(OCTETS(ASKED "\0"));
	CHECK(is(&r, "2023-11-14 22:13:20.123 pass     192.0.2.7 ?     a.mesh."
	    " (not-mesh)"));
	r = record(OCTETS(ASKED "\0\1\0\1"));
	set_answer(&r, OCTETS(ANSWERED("\2")
	    "\xc0\x0c\0\1\0\1\0\0\0\x1e\0\4\12\0\0\1\xc0\x0c\0\1\0\1\0"));
	CHECK(is(&r, "2023-11-14 22:13:20.123 answer   192.0.2.7 A     a.mesh."
	    " 10.0.0.1 (record)"));
}

/* Names and texts of a hostile answer never overrun the line. */
static void
long_answers_are_counted(void)
{
	static uint8_t answer[4096];
	struct audit_record r = record(OCTETS(ASKED "\0\1\0\1"));
	size_t length = sizeof(ANSWERED("\2")) - 1;

	memcpy(answer, ANSWERED("\2"), length);
	answer[6] = 0;
	answer[7] = 200;
	for (unsigned int i = 0; i < 200; i++) {
		memcpy(answer + length, "\xc0\x0c\0\x10\0\1\0\0\0\x1e\0\5\4\1\2\3\4", 17);
		length += 17;
	}
	set_answer(&r, answer, length);
	CHECK(audit_text(&r, true, line) < AUDIT_TEXT_MAX);
	CHECK(strstr(line, " and ") != NULL);
	CHECK(strstr(line, " more (record)") != NULL);
	CHECK(strncmp(line + 24, "\033[32manswer", 11) == 0);
}

int
main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	TEST(says_who_asked_what);
	TEST(says_what_was_answered);
	TEST(says_what_is_unusual);
	TEST(bad_messages_are_said_to_be);
	TEST(long_answers_are_counted);
	return test_summary();
}

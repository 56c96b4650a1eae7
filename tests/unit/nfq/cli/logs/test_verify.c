/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workers, one after the other in a log, and what is missing. */
#include "nfq/cli/logs/verify.h"

#include <string.h>
#include <sys/socket.h>

#include "policy/audit/format.h"
#include "resolver/text/json_tree.h"
#include "tests/check.h"

static struct json_tree tree = JSON_TREE_INIT;
static struct log_verify v;
static char state[AUDIT_FORMAT_STATE], text[65536];
static uint64_t run, next;		/* of the worker that writes */

static enum log_finding
verify(size_t length)
{
	struct log_line line;

	log_line_read(&line, &tree, text, length);
	return log_verify_line(&v, &line);
}

/* Whether the line begins another worker. */
static bool
is_over(size_t length)
{
	struct log_line line;

	log_line_read(&line, &tree, text, length);
	return log_verify_is_over(&v, &line);
}

static size_t
note(enum audit_note_kind kind, uint64_t lost)
{
	const struct audit_note n = { .kind = kind, .run = run, .next = next,
		.lost_now = lost, .from = next - lost, .to = next - 1,
		.unread = lost };

	return audit_formats[AUDIT_JSON]->note(state, &n, text);
}

static enum log_finding
records(unsigned int count)
{
	enum log_finding found = LOG_FINE;

	for (; count > 0 && found == LOG_FINE; count--) {
		const struct audit_record r = { .family = AF_INET,
			.number = next++, .question = (const uint8_t *)"",
			.answer = (const uint8_t *)"" };

		found = verify(audit_formats[AUDIT_JSON]->record(state, &r,
		    text));
	}
	return found;
}

static void
begin(void)
{
	run++;
	next = 1;
	CHECK(verify(note(AUDIT_BEGIN, 0)) == LOG_FINE);
}

static void
start(void)
{
	memset(&v, 0, sizeof(v));
	run = 1000;
	begin();
}

TEST(a_whole_log)
{
	start();
	CHECK(records(3) == LOG_FINE && !v.ended);
	CHECK(verify(note(AUDIT_END, 0)) == LOG_FINE && v.ended);
	/* The same worker, another file. */
	CHECK(!is_over(note(AUDIT_BEGIN, 0)));
	CHECK(verify(note(AUDIT_BEGIN, 0)) == LOG_FINE);
	CHECK(records(2) == LOG_FINE);
	CHECK(verify(note(AUDIT_END, 0)) == LOG_FINE);
	CHECK(v.records == 5 && v.gap == 0 && v.ended);
	run++;
	next = 1;
	CHECK(is_over(note(AUDIT_BEGIN, 0)));
	begin();
	CHECK(records(1) == LOG_FINE && v.records == 6);
	CHECK(log_verify_is_over(&v, NULL));
}

TEST(losses_that_are_told)
{
	start();
	CHECK(records(2) == LOG_FINE);
	next += 5;
	CHECK(records(1) == LOG_FINE);
	CHECK(v.gap == 5 && v.told == 0 && v.from == 3 && v.to == 7);
	CHECK(verify(note(AUDIT_LOST, 5)) == LOG_FINE);
	CHECK(v.gap == v.told && v.lost == 5);
	CHECK(verify(note(AUDIT_UNREAD, 7)) == LOG_FINE && v.unread == 7);
	CHECK(verify(note(AUDIT_END, 0)) == LOG_FINE && v.gap == 5);
}

TEST(what_was_cut_out)
{
	start();
	CHECK(records(2) == LOG_FINE);
	next += 3;
	CHECK(records(1) == LOG_FINE && v.gap - v.told == 3);
	/* And at the end: the last line says how many there were. */
	next += 4;
	CHECK(verify(note(AUDIT_END, 0)) == LOG_FINE);
	CHECK(v.gap - v.told == 7 && v.from == 3 && v.to == 10);
	/* A file between two others. */
	next += 2;
	CHECK(verify(note(AUDIT_BEGIN, 0)) == LOG_FINE && v.gap == 9);
}

TEST(what_is_there_twice)
{
	start();
	CHECK(records(3) == LOG_FINE);
	next = 2;
	CHECK(records(1) == LOG_REPEATED && v.records == 3);
	next = 4;
	CHECK(records(1) == LOG_FINE && v.gap == 0);
}

TEST(what_is_no_line_of_ours)
{
	static const char *const lines[] = { "", "x", "{}", "[]",
		"{\"nfdns\":{}}", "{\"nfdns\":{\"event\":\"other\",\"run\":1}}",
		"{\"nfdns\":{\"event\":\"begin\"}}",
		"{\"nfdns\":{\"number\":-1}}", "{\"nfdns\":{\"number\":1}" };

	start();
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		memcpy(text, lines[i], strlen(lines[i]));
		CHECK(verify(strlen(lines[i])) == LOG_IS_FOREIGN);
	}
	CHECK(records(1) == LOG_FINE && v.gap == 0);
}

int
main(void)
{
	test_run();
	json_tree_free(&tree);
	return test_summary();
}

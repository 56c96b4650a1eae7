/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs of workers, one after the other in a log, and what is missing between. */
#include "nfq/cli/logs/verify.h"

#include <string.h>
#include <sys/socket.h>

#include "policy/audit/format.h"
#include "tests/check.h"

#define SIZE	((size_t)64 << 10)

static const struct audit_key no_key = { .present = false };
static char octets[SIZE];
static size_t length;

/* The worker that writes. */
static struct audit_seal seal;
static uint64_t run, number, written;

static void
put_note(enum audit_note_kind kind, uint64_t lost)
{
	const struct audit_note note = { .kind = kind, .run = run,
		.records = written, .next = &number, .threads = 1,
		.lost_now = lost, .from = number - lost, .to = number - 1,
		.lost = 0 };
	static char state[AUDIT_FORMAT_STATE];
	size_t at;
	const size_t size = audit_formats[AUDIT_JSON]->note(state, &note,
	    octets + length, &at);

	audit_seal_put(&seal, &no_key, octets + length, size, at);
	length += size;
}

static void
put_records(unsigned int count)
{
	static char state[AUDIT_FORMAT_STATE];

	for (; count > 0; count--, number++, written++) {
		const struct audit_record record = { .family = AF_INET,
			.number = number, .question = (const uint8_t *)"",
			.answer = (const uint8_t *)"" };
		size_t at;
		const size_t size = audit_formats[AUDIT_JSON]->record(state,
		    &record, octets + length, &at);

		audit_seal_put(&seal, &no_key, octets + length, size, at);
		length += size;
	}
}

/* A worker begins; records before it have so many numbers. */
static void
begin(uint64_t first)
{
	run++;
	seal = (struct audit_seal){ .number = 0, .chain = run };
	number = first;
	written = 0;
	put_note(AUDIT_BEGIN, 0);
}

static struct audit_verify verify;

/* What is wrong with the log from its octet "from" on; the log is empty then. */
static unsigned int
wrong_from(size_t from)
{
	struct audit_reading r;
	unsigned int wrong = 0;

	for (size_t at = from; at < length; at += r.length) {
		CHECK(audit_reader_next(&r, AUDIT_JSON,
		    (const uint8_t *)octets + at, length - at) ==
		    AUDIT_READ_PIECE);
		wrong |= audit_verify_piece(&verify, &r, octets + at);
	}
	length = 0;
	return wrong;
}

static void
start(void)
{
	verify = (struct audit_verify){ .since = 1 };
	length = 0;
	run = 1000;
	begin(0);
}

static void
a_kill_that_lost_nothing(void)
{
	start();
	put_records(3);
	begin(3);
	put_records(2);
	CHECK(wrong_from(0) == AUDIT_UNENDED && verify.between == 0);
	CHECK(verify.joined && verify.given == 5 && verify.records == 5);
	CHECK(verify.has_first && verify.first == 0);
}

static void
a_kill_with_records_in_memory(void)
{
	start();
	put_records(3);
	begin(7);
	CHECK(wrong_from(0) == AUDIT_UNENDED && verify.between == 4);
}

/* Another daemon numbers from 0, so nothing can be said of the end before. */
static void
another_daemon(void)
{
	start();
	put_records(3);
	begin(0);
	CHECK(wrong_from(0) == AUDIT_UNENDED);
	CHECK(verify.between == AUDIT_BETWEEN_UNKNOWN);
	start();
	put_records(3);
	put_note(AUDIT_END, 0);
	begin(0);
	put_records(1);
	CHECK(wrong_from(0) == 0);
}

static void
a_run_that_is_missing(void)
{
	start();
	put_records(3);
	put_note(AUDIT_END, 0);
	begin(3);
	put_note(AUDIT_END, 0);
	CHECK(wrong_from(0) == 0);
	start();
	put_records(3);
	put_note(AUDIT_END, 0);
	begin(8);
	CHECK(wrong_from(0) == AUDIT_BETWEEN && verify.between == 5);
}

/* What was changed or cut out makes the sum of the run unknown. */
static void
no_sum_of_what_is_damaged(void)
{
	start();
	put_records(3);
	octets[length - 100] ^= 1;
	begin(3);
	CHECK((wrong_from(0) & AUDIT_UNENDED) != 0);
	CHECK(verify.between == AUDIT_BETWEEN_UNKNOWN);
}

static void
losses_count(void)
{
	start();
	put_records(1);
	number += 4;
	put_note(AUDIT_LOST, 4);
	begin(5);
	CHECK(wrong_from(0) == (AUDIT_LOSS | AUDIT_UNENDED));
	CHECK(verify.between == 0 && verify.lost == 4 && verify.given == 5);
}

static void
a_log_that_begins_later(void)
{
	size_t later;

	start();
	put_records(2);
	put_note(AUDIT_END, 0);
	later = length;
	put_note(AUDIT_BEGIN, 0);
	put_records(1);
	CHECK(wrong_from(later) == AUDIT_HEADLESS);
	CHECK(verify.has_first && verify.first == 2 && verify.given == 3);
	start();
	verify.since = run + 1;		/* all of it is older */
	CHECK(wrong_from(0) == 0 && !verify.has_first);
}

int
main(void)
{
	TEST(a_kill_that_lost_nothing);
	TEST(a_kill_with_records_in_memory);
	TEST(another_daemon);
	TEST(a_run_that_is_missing);
	TEST(no_sum_of_what_is_damaged);
	TEST(losses_count);
	TEST(a_log_that_begins_later);
	return test_summary();
}

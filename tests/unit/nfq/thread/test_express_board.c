/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What queue threads and the forwarding thread leave each other. */
#include "nfq/thread/express_board.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/check.h"

#define GIVEN	512	/* sockets are open meanwhile */
#define PATIENCE_MS 20000

/* Without it there is nothing to test. */
#define MUST(condition) do { \
	if (!(condition)) \
		abort(); \
} while (0)

static struct express_board *board;

static void
begin(void)
{
	board = express_board_new();
	MUST(board != NULL);
}

static void
end(void)
{
	express_board_free(board);
}

static int
new_file(void)
{
	const int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	MUST(fd >= 0);
	return fd;
}

static bool
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Questions that were begun */

static void
give(const char *packet, uint16_t id, int64_t ms, int fd)
{
	struct begun_question *b = begun_new((const uint8_t *)packet,
	    strlen(packet), (const uint8_t *)"reply", 5);

	MUST(b != NULL);
	CHECK(b->fd == -1);
	b->id = id;
	b->sent = monotime_from_ms(ms);
	b->fd = fd;
	express_board_give(board, b);
}

/* The id of the one that is taken; -1: there is none. */
static int
take(const char *packet)
{
	struct begun_question *b = express_board_take(board,
	    (const uint8_t *)packet, strlen(packet));
	const int id = b != NULL ? b->id : -1;

	if (b != NULL)
		CHECK(b->length == strlen(packet) && b->reply_length == 5 &&
		    memcmp(b->octets, packet, b->length) == 0 &&
		    memcmp(b->octets + b->length, "reply", 5) == 0);
	begun_free(b);
	return id;
}

static void
they_are_found_by_their_packets(void)
{
	begin();
	CHECK(take("one") == -1);
	give("one", 1, 1, -1);
	give("two", 2, 2, -1);
	give("three", 3, 3, -1);
	CHECK(take("on") == -1 && take("onee") == -1 && take("owt") == -1);
	CHECK(take("two") == 2 && take("two") == -1);
	CHECK(take("three") == 3);	/* the last one: the list's end moves */
	give("four", 4, 4, -1);
	CHECK(take("one") == 1 && take("four") == 4);
	CHECK(board->begun_count == 0 && take("one") == -1);
	end();
}

static void
of_equal_packets_the_first_is_taken(void)
{
	begin();
	give("same", 1, 1, -1);
	give("other", 2, 2, -1);
	give("same", 3, 3, -1);
	CHECK(take("same") == 1 && take("same") == 3 && take("same") == -1);
	CHECK(take("other") == 2);
	end();
}

/* A server may send 64 KiB to each of all questions that the board keeps. */
static void
a_reply_is_kept_up_to_what_was_asked_for(void)
{
	static const uint8_t reply[UINT16_MAX];
	struct begun_question *b = begun_new((const uint8_t *)"packet", 6,
	    reply, BEGUN_REPLY_MAX);

	MUST(b != NULL);
	CHECK(b->reply_length == BEGUN_REPLY_MAX);
	begun_free(b);
	CHECK(begun_new((const uint8_t *)"packet", 6, reply,
	    BEGUN_REPLY_MAX + 1) == NULL);
	CHECK(begun_new((const uint8_t *)"packet", 6, reply, UINT16_MAX) ==
	    NULL);
}

static void
who_takes_one_has_its_socket(void)
{
	const int fd = new_file();
	struct begun_question *b;

	begin();
	give("packet", 1, 1, fd);
	b = express_board_take(board, (const uint8_t *)"packet", 6);
	MUST(b != NULL);
	CHECK(b->fd == fd && is_open(fd));
	begun_free(b);
	CHECK(!is_open(fd));
	begun_free(NULL);
	end();
}

/* Their packets were lost: neither memory nor sockets grow without bound. */
static void
above_the_bound_the_oldest_is_closed(void)
{
	const int first = new_file(), second = new_file();
	char packet[16];

	begin();
	give("first", 1, 1, first);
	give("second", 2, 2, second);
	for (int n = 2; n < EXPRESS_BEGUN; n++) {
		(void)snprintf(packet, sizeof(packet), "%d", n);
		give(packet, 3, 3, -1);
	}
	CHECK(is_open(first) && board->begun_count == EXPRESS_BEGUN);
	give("last", 4, 4, -1);
	CHECK(!is_open(first) && is_open(second));
	CHECK(board->begun_count == EXPRESS_BEGUN);
	CHECK(take("first") == -1 && take("second") == 2 && take("last") == 4);
	CHECK(!is_open(second));
	end();
}

static void
what_nobody_takes_is_closed_in_time(void)
{
	const int old = new_file(), new = new_file();

	begin();
	express_board_age(board, monotime_from_ms(100));
	give("old", 1, 10, old);
	give("new", 2, 20, new);
	express_board_age(board, monotime_from_ms(9));
	CHECK(is_open(old));
	express_board_age(board, monotime_from_ms(10));
	CHECK(!is_open(old) && is_open(new) && take("old") == -1);
	/* At the end all is. */
	end();
	CHECK(!is_open(new));
	express_board_free(NULL);
}

/* One gives questions away, the other takes each of them, and ages the rest. */
static void *
give_questions(void *arg)
{
	char packet[16];

	(void)arg;
	for (int n = 0; n < GIVEN; n++) {
		(void)snprintf(packet, sizeof(packet), "%d", n);
		give(packet, (uint16_t)n, 1000, new_file());
	}
	return NULL;
}

static void
questions_go_from_thread_to_thread(void)
{
	const monotime_t until = monotime_add_ms(monotime_now(), PATIENCE_MS);
	int before = new_file(), after, next = 0;
	pthread_t thread;
	char packet[16];

	begin();
	MUST(pthread_create(&thread, NULL, give_questions, NULL) == 0);
	while (next < GIVEN && !monotime_is_past(monotime_now(),
	    until)) {
		(void)snprintf(packet, sizeof(packet), "%d", next);
		next += take(packet) == next;
		express_board_age(board, monotime_from_ms(999));
	}
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(next == GIVEN && board->begun_count == 0);
	end();
	after = new_file();
	CHECK(after == before + 1);	/* all are closed */
	(void)close(before);
	(void)close(after);
}

int
main(void)
{
	TEST(they_are_found_by_their_packets);
	TEST(of_equal_packets_the_first_is_taken);
	TEST(a_reply_is_kept_up_to_what_was_asked_for);
	TEST(who_takes_one_has_its_socket);
	TEST(above_the_bound_the_oldest_is_closed);
	TEST(what_nobody_takes_is_closed_in_time);
	TEST(questions_go_from_thread_to_thread);
	return test_summary();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kept connections to upstreams, on the loopback interface; the time is the test's. */
#include "tests/check.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "nfq/upstream/tcp_upstreams.h"
#include "nfq/sockets/open.h"
#include "resolver/dns/wire.h"

#define WAIT_MS		5000
#define LENGTH		20		/* octets of each message */
#define MANY		1000
#define QUIET_MS	30		/* for what must not happen */

static struct tcp_upstreams *all;
static int listener = -1;
static struct forward_upstream server;
static monotime_t now;

/* What came of attempts, by their numbers, which are ids, too. */
static unsigned int answers[MANY];
static int errors[MANY];

static void
set_up(void)
{
	const struct timeval wait = { .tv_sec = WAIT_MS / 1000 };
	const uint8_t octets[16] = { 127, 0, 0, 1 };
	union sockets_address here;
	socklen_t size = sockets_address_make(&here, AF_INET, octets, 0, 0);

	now = monotime_from_ms(1000);
	memset(answers, 0, sizeof(answers));
	memset(errors, 0, sizeof(errors));
	all = tcp_upstreams_new(0, 7);
	CHECK(all != NULL);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &wait,
	    sizeof(wait)) == 0);
	CHECK(bind(listener, &here.any, size) == 0 &&
	    listen(listener, 512) == 0 &&
	    getsockname(listener, &here.any, &size) == 0);
	server = (struct forward_upstream){ .family = AF_INET,
		.transport = FORWARD_TCP, .port = ntohs(here.v4.sin_port),
		.address = { 127, 0, 0, 1 } };
}

static void
tear_down(void)
{
	tcp_upstreams_free(all);
	(void)close(listener);
}

static void
later(int64_t ms)
{
	now = monotime_add_ms(now, ms);
}

static void
take_failures(void)
{
	struct stream_reply reply;

	while (tcp_upstreams_failed(all, &reply))
		errors[reply.attempt] = reply.error;
}

/* One round of the loop; as the engine does, an answered attempt is closed. */
static void
do_round(void)
{
	struct stream_reply reply;

	tcp_upstreams_wait(all);
	while (tcp_upstreams_receive(all, now, &reply)) {
		CHECK(reply.length == LENGTH);
		CHECK(wire_load_u16(reply.octets) == reply.attempt);
		answers[reply.attempt]++;
		CHECK(tcp_upstreams_forget(all, now, reply.attempt));
	}
	tcp_upstreams_tick(all, now);
	take_failures();
	tcp_upstreams_flush(all);
}

/* Rounds until *what is set, or until nothing comes for so long. */
static bool
go_on(const unsigned int *what, int quiet_ms)
{
	struct pollfd poll_fd = { tcp_upstreams_fd(all), POLLIN, 0 };

	while (what == NULL || *what == 0) {
		if (poll(&poll_fd, 1, quiet_ms) <= 0)
			return false;
		do_round();
	}
	return true;
}

static void
ask_by_id(uint32_t attempt, uint16_t id)
{
	uint8_t octets[LENGTH] = { 0 };

	wire_store_u16(octets, id);
	CHECK(tcp_upstreams_send(all, now, attempt, &server, octets,
	    sizeof(octets)) == 0);
	tcp_upstreams_flush(all);
}

static void
ask(uint32_t attempt)
{
	ask_by_id(attempt, (uint16_t)attempt);
}

/* The server's side */

/* A connection that was made; -1: none comes. */
static int
accept_one(void)
{
	const struct timeval wait = { .tv_sec = WAIT_MS / 1000 };
	struct pollfd poll_fd = { listener, POLLIN, 0 };
	int fd;

	do_round();
	if (poll(&poll_fd, 1, 0) == 0)
		(void)go_on(NULL, QUIET_MS);
	if (poll(&poll_fd, 1, QUIET_MS) == 0)
		return -1;
	fd = accept(listener, NULL, NULL);
	CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) == 0);
	(void)go_on(NULL, QUIET_MS);	/* what waited is sent */
	return fd;
}

static uint32_t
hear(int fd)
{
	uint8_t octets[2 + LENGTH];

	CHECK(recv(fd, octets, sizeof(octets), MSG_WAITALL) ==
	    sizeof(octets));
	CHECK(wire_load_u16(octets) == LENGTH);
	return wire_load_u16(octets + 2);
}

/* Whether nothing was sent. */
static bool
hears_nothing(int fd)
{
	struct pollfd poll_fd = { fd, POLLIN, 0 };

	(void)go_on(NULL, QUIET_MS);
	return poll(&poll_fd, 1, 0) == 0;
}

/* Whether the connection was ended. */
static bool
is_ended(int fd)
{
	uint8_t octet;

	(void)go_on(NULL, QUIET_MS);
	return recv(fd, &octet, 1, MSG_DONTWAIT) < 0 ? errno == ECONNRESET :
	    true;
}

static void
say(int fd, uint32_t attempt)
{
	uint8_t octets[2 + LENGTH] = { 0, LENGTH };

	wire_store_u16(octets + 2, (uint16_t)attempt);
	CHECK(send(fd, octets, sizeof(octets), MSG_NOSIGNAL) ==
	    sizeof(octets));
}

static void
answer(int fd, uint32_t attempt)
{
	say(fd, attempt);
	CHECK(go_on(&answers[attempt], WAIT_MS));
}

/* Tests */

TEST(many_questions_share_a_connection)
{
	int fd;

	set_up();
	for (uint32_t n = 1; n <= 3; n++)
		ask(n);
	fd = accept_one();
	for (uint32_t n = 1; n <= 3; n++)
		CHECK(hear(fd) == n);
	CHECK(accept_one() < 0);
	/* In any order. */
	answer(fd, 2);
	answer(fd, 3);
	answer(fd, 1);
	ask(4);
	CHECK(hear(fd) == 4);
	answer(fd, 4);
	CHECK(tcp_upstreams_stats(all, false)->connections == 1);
	(void)close(fd);
	tear_down();
}

TEST(there_are_few_connections)
{
	int fds[TCP_CONNECTIONS + 1], count = 0;
	uint8_t octet;

	set_up();
	for (uint32_t n = 0; n < MANY; n++) {
		ask(n);
		if (n % 100 == 0 && count <= TCP_CONNECTIONS &&
		    (fds[count] = accept_one()) >= 0)
			count++;
	}
	CHECK(count == TCP_CONNECTIONS);
	CHECK(tcp_upstreams_stats(all, false)->connections == TCP_CONNECTIONS);
	for (int i = 0; i < count; i++) {
		while (recv(fds[i], &octet, 1, MSG_PEEK | MSG_DONTWAIT) == 1)
			say(fds[i], hear(fds[i]));
		(void)go_on(NULL, QUIET_MS);
		(void)close(fds[i]);
	}
	for (uint32_t n = 0; n < MANY; n++)
		CHECK(answers[n] == 1 && errors[n] == 0);
	tear_down();
}

/* RFC 7766 section 6.2.4. */
TEST(questions_of_a_connection_that_ends_are_asked_again)
{
	int fd;

	set_up();
	ask(1);
	fd = accept_one();
	CHECK(hear(fd) == 1);
	answer(fd, 1);
	ask(2);
	ask(3);
	CHECK(hear(fd) == 2 && hear(fd) == 3);
	(void)close(fd);
	fd = accept_one();
	CHECK(hear(fd) == 2 && hear(fd) == 3);
	CHECK(tcp_upstreams_stats(all, false)->again == 2);
	answer(fd, 2);
	answer(fd, 3);
	CHECK(errors[2] == 0 && errors[3] == 0);
	(void)close(fd);
	tear_down();
}

/* But a server that only ends connections has failed. */
TEST(not_for_ever)
{
	unsigned int connections = 0;
	int fd;

	set_up();
	ask(1);
	while ((fd = accept_one()) >= 0) {
		(void)hear(fd);
		(void)close(fd);
		connections++;
		(void)go_on(NULL, QUIET_MS);
	}
	CHECK(connections == 2);
	CHECK(errors[1] == -ECONNRESET);
	tear_down();
}

TEST(one_answer_a_connection_is_learnt)
{
	uint64_t again;
	int fd;

	set_up();
	for (uint32_t n = 0; n < 40; n++)
		ask(n);
	for (int i = 0; i < 200 && (fd = accept_one()) >= 0; i++) {
		if (!hears_nothing(fd))
			answer(fd, hear(fd));
		(void)close(fd);
	}
	for (uint32_t n = 0; n < 40; n++)
		CHECK(answers[n] == 1 && errors[n] == 0);
	again = tcp_upstreams_stats(all, false)->again;
	for (uint32_t n = 100; n < 120; n++)
		ask(n);
	for (uint32_t n = 100; n < 120; n++) {
		fd = accept_one();
		CHECK(fd >= 0);
		answer(fd, hear(fd));
		CHECK(hears_nothing(fd) || is_ended(fd));
		(void)close(fd);
	}
	CHECK(tcp_upstreams_stats(all, false)->again == again);
	tear_down();
}

/* A server that answers in turn: others do not wait behind a slow question. */
TEST(nobody_waits_behind_a_slow_question)
{
	int slow[TCP_CONNECTIONS], fd;

	set_up();
	for (uint32_t n = 0; n < TCP_CONNECTIONS; n++) {
		ask(n);
		slow[n] = accept_one();
		CHECK(slow[n] >= 0 && hear(slow[n]) == n);
		later(TCP_SLOW_MS);
	}
	/* It may be that each answer is late: one question on each from now on. */
	for (uint32_t n = 10; n < 30; n++) {
		ask(n);
		fd = accept_one();
		CHECK(fd >= 0 && hear(fd) == n);
		(void)close(fd);
		tcp_upstreams_forget(all, now, n);
		do_round();
	}
	for (uint32_t n = 0; n < TCP_CONNECTIONS; n++) {
		answer(slow[n], n);
		(void)close(slow[n]);
	}
	tear_down();
}

TEST(who_answers_out_of_turn_is_asked_by_few)
{
	int fd;

	set_up();
	ask(0);
	ask(1);
	fd = accept_one();
	CHECK(hear(fd) == 0 && hear(fd) == 1);
	answer(fd, 1);
	(void)close(fd);
	(void)close(accept_one());
	(void)go_on(NULL, QUIET_MS);
	for (uint32_t n = 10; n < 10 + TCP_CONNECTIONS_SLOW + 4; n++) {
		ask(n);
		(void)accept_one();
		later(TCP_SLOW_MS);
	}
	CHECK(tcp_upstreams_stats(all, false)->connections <=
	    TCP_CONNECTIONS_SLOW + 2);
	tear_down();
}

TEST(a_mute_connection_is_ended)
{
	int fd, other;

	set_up();
	ask(1);
	fd = accept_one();
	CHECK(hear(fd) == 1);
	later(3999);
	CHECK(!is_ended(fd) || errno == EAGAIN);
	later(1);
	do_round();
	other = accept_one();
	CHECK(other >= 0 && hear(other) == 1);
	later(4000);
	do_round();
	CHECK(errors[1] == -ETIMEDOUT);
	CHECK(is_ended(fd) && is_ended(other));
	(void)close(fd);
	(void)close(other);
	tear_down();
}

/* An answer cannot come by another connection than the question went. */
TEST(the_connection_must_be_the_same)
{
	int one, two;

	set_up();
	ask(1);
	one = accept_one();
	CHECK(hear(one) == 1);
	later(TCP_SLOW_MS);
	ask(2);
	two = accept_one();
	CHECK(two >= 0 && hear(two) == 2);
	say(two, 1);
	(void)go_on(NULL, QUIET_MS);
	CHECK(answers[1] == 0);
	answer(one, 1);
	answer(two, 2);
	(void)close(one);
	(void)close(two);
	tear_down();
}

TEST(an_id_in_use_waits_or_goes_elsewhere)
{
	int fd;

	set_up();
	ask(1);
	fd = accept_one();
	CHECK(hear(fd) == 1);
	ask_by_id(2, 1);
	CHECK(hears_nothing(fd));
	answer(fd, 1);
	CHECK(hear(fd) == 1);
	CHECK(tcp_upstreams_forget(all, now, 2));
	(void)close(fd);
	tear_down();
}

TEST(idle_ones_are_closed)
{
	int fd;

	set_up();
	ask(1);
	fd = accept_one();
	answer(fd, hear(fd));
	later(TCP_IDLE_MS - 1);
	do_round();
	CHECK(tcp_upstreams_next(all).ns > now.ns);
	later(1);
	do_round();
	CHECK(is_ended(fd));
	CHECK(!monotime_is_set(tcp_upstreams_next(all)));
	(void)close(fd);
	tear_down();
}

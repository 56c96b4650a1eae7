/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UDP sockets of questions to upstreams, on the loopback interface. */
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "nfq/upstream/upstream_sockets.h"
#include "nfq/sockets/address.h"
#include "nfq/sockets/open.h"

#define ROUNDS	2048
#define BUCKETS	16
#define WAIT_MS	5000

static struct upstream_sockets all;
static const monotime_t begun = { 1000000000 };

struct server {
	int fd;
	struct forward_upstream at;
	union sockets_address client;	/* of the last question */
	socklen_t size;
};

static void
set_up(void)
{
	memset(&all, 0, sizeof(all));
	upstream_sockets_init(&all, epoll_create1(EPOLL_CLOEXEC), 0);
	CHECK(all.epoll >= 0);
}

static void
tear_down(void)
{
	upstream_sockets_close(&all);
	(void)close(all.epoll);
}

static void
serve(struct server *server, int family)
{
	const struct timeval wait = { .tv_sec = WAIT_MS / 1000 };
	uint8_t octets[16] = { 127, 0, 0, 1 };
	union sockets_address here;
	socklen_t size;

	if (family == AF_INET6) {
		memset(octets, 0, sizeof(octets));
		octets[15] = 1;
	}
	*server = (struct server){ .fd = socket(family, SOCK_DGRAM, 0) };
	CHECK(setsockopt(server->fd, SOL_SOCKET, SO_RCVTIMEO, &wait,
	    sizeof(wait)) == 0);
	size = sockets_address_make(&here, family, octets, 0, 0);
	CHECK(bind(server->fd, &here.any, size) == 0);
	CHECK(getsockname(server->fd, &here.any, &size) == 0);
	server->at = (struct forward_upstream){ .family = (uint32_t)family,
		.transport = FORWARD_UDP };
	memcpy(server->at.address, octets, sizeof(octets));
	server->at.port = ntohs(family == AF_INET ? here.v4.sin_port :
	    here.v6.sin6_port);
}

static void
ask(struct server *server, uint32_t attempt)
{

	CHECK(upstream_sockets_send(&all, attempt, &server->at,
	    (const uint8_t *)"ask", 3) == 0);
}

/* The port that the question came from. */
static uint16_t
hear(struct server *server)
{
	char octets[8];

	server->size = sizeof(server->client);
	CHECK(recvfrom(server->fd, octets, sizeof(octets), 0,
	    &server->client.any, &server->size) == 3);
	return ntohs(server->at.family == AF_INET ? server->client.v4.sin_port :
	    server->client.v6.sin6_port);
}

static void
reply(struct server *server, const char *text)
{
	CHECK(sendto(server->fd, text, strlen(text), 0, &server->client.any,
	    server->size) == (ssize_t)strlen(text));
}

/* The socket that has something to say. */
static struct upstream_socket *
wait_for_event(void)
{
	struct epoll_event event = { 0 };

	CHECK(epoll_wait(all.epoll, &event, 1, WAIT_MS) == 1);
	return event.data.ptr;
}

static bool
brings(struct upstream_socket *socket, const char *text)
{
	const uint8_t *octets = NULL;
	ssize_t n = upstream_sockets_receive(&all, socket, &octets);

	return n == (ssize_t)strlen(text) &&
	    memcmp(octets, text, (size_t)n) == 0;
}

static void
end(uint32_t attempt)
{
	upstream_sockets_forget(&all, attempt);
	upstream_sockets_end_round(&all, begun);
}

/*
 * One socket serves all questions, and each has a random port (RFC 5452 section
 * 9.2).  A port tells nothing of the next: neither ports nor their differences
 * prefer a part of the range.
 */
static void
each_question_has_a_random_port(int family)
{
	unsigned int ports[BUCKETS] = { 0 }, steps[BUCKETS] = { 0 }, again = 0;
	static uint8_t seen[UINT16_MAX + 1];
	uint16_t low = UINT16_MAX, high = 0, port[ROUNDS];
	struct server server;

	set_up();
	serve(&server, family);
	memset(seen, 0, sizeof(seen));
	for (unsigned int n = 0; n < ROUNDS; n++) {
		ask(&server, n);
		port[n] = hear(&server);
		again += seen[port[n]]++;
		low = port[n] < low ? port[n] : low;
		high = port[n] > high ? port[n] : high;
		end(n);
		CHECK(all.idle_count == 1);
	}
	for (unsigned int n = 1; n < ROUNDS; n++) {
		const unsigned int range = high - low + 1U;
		const unsigned int here = port[n], last = port[n - 1];

		ports[(here - low) * BUCKETS / range]++;
		steps[(here + range - last) % range * BUCKETS / range]++;
	}
	/* 128 are expected, give or take 11; and half as many that come again. */
	for (unsigned int i = 0; i < BUCKETS; i++) {
		CHECK(ports[i] > 60 && ports[i] < 196);
		CHECK(steps[i] > 60 && steps[i] < 196);
	}
	CHECK(again < ROUNDS * ROUNDS / (high - low + 1U));
	(void)close(server.fd);
	tear_down();
}

static void
ports_are_random_over_ipv4(void)
{
	each_question_has_a_random_port(AF_INET);
}

static void
ports_are_random_over_ipv6(void)
{
	each_question_has_a_random_port(AF_INET6);
}

/* Neither what waits in the socket, nor what comes to the port that it had. */
static void
replies_to_the_last_question_are_lost(void)
{
	struct server server, late;
	const uint8_t *octets;
	struct upstream_socket *u;

	set_up();
	serve(&server, AF_INET);
	ask(&server, 1);
	(void)hear(&server);
	late = server;
	reply(&late, "first");
	reply(&late, "second");
	u = wait_for_event();
	CHECK(brings(u, "first"));
	end(1);
	CHECK(upstream_sockets_receive(&all, u, &octets) == -EAGAIN);
	ask(&server, 2);
	CHECK(hear(&server) != ntohs(late.client.v4.sin_port));
	reply(&late, "third");
	reply(&server, "right");
	CHECK(wait_for_event() == u && u->attempt == 2);
	CHECK(brings(u, "right"));
	CHECK(upstream_sockets_receive(&all, u, &octets) == -EAGAIN);
	(void)close(server.fd);
	tear_down();
}

/* Only the server that is asked now is heard. */
static void
another_server_is_not_heard(void)
{
	struct server server, other;
	const uint8_t *octets;
	struct upstream_socket *u;

	set_up();
	serve(&server, AF_INET);
	serve(&other, AF_INET);
	ask(&other, 1);
	(void)hear(&other);
	end(1);
	ask(&server, 2);
	(void)hear(&server);
	other.client = server.client;
	reply(&other, "forged");
	reply(&server, "right");
	u = wait_for_event();
	CHECK(brings(u, "right"));
	CHECK(upstream_sockets_receive(&all, u, &octets) == -EAGAIN);
	(void)close(server.fd);
	(void)close(other.fd);
	tear_down();
}

/* An ICMP message about one question is no error of the next. */
static void
errors_of_the_last_question_are_lost(void)
{
	struct server server, closed;
	const uint8_t *octets;

	set_up();
	serve(&server, AF_INET);
	serve(&closed, AF_INET);
	(void)close(closed.fd);
	ask(&closed, 1);
	CHECK(upstream_sockets_receive(&all, wait_for_event(), &octets) ==
	    -ECONNREFUSED);
	end(1);
	ask(&closed, 2);
	(void)wait_for_event();
	end(2);
	ask(&server, 3);
	(void)hear(&server);
	reply(&server, "right");
	CHECK(brings(wait_for_event(), "right"));
	CHECK(all.idle_count == 0);
	(void)close(server.fd);
	tear_down();
}

static int
open_files(void)
{
	int count = 0;

	for (int fd = 0; fd < UPSTREAM_SOCKETS_IDLE + 64; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void
idle_sockets_are_few_and_closed_in_the_end(void)
{
	const unsigned int count = UPSTREAM_SOCKETS_IDLE + 20;
	struct rlimit files;
	struct server server;
	int before;

	CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
	files.rlim_cur = files.rlim_max;
	CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
	set_up();
	serve(&server, AF_INET);
	before = open_files();
	for (unsigned int n = 0; n < count; n++)
		ask(&server, n);
	for (unsigned int n = 0; n < count; n++)
		upstream_sockets_forget(&all, n);
	upstream_sockets_end_round(&all, begun);
	CHECK(all.idle_count == UPSTREAM_SOCKETS_IDLE);
	CHECK(open_files() == before + UPSTREAM_SOCKETS_IDLE);
	/* One is used meanwhile. */
	ask(&server, 1);
	upstream_sockets_forget(&all, 1);
	upstream_sockets_end_round(&all, monotime_add_ms(begun, 1));
	upstream_sockets_end_round(&all, upstream_sockets_next(&all));
	CHECK(all.idle_count == 1 && open_files() == before + 1);
	upstream_sockets_end_round(&all, upstream_sockets_next(&all));
	CHECK(all.idle_count == 0 && open_files() == before);
	CHECK(!monotime_is_set(upstream_sockets_next(&all)));
	all.idle_most = 0;		/* there are few descriptors */
	ask(&server, 1);
	end(1);
	CHECK(all.idle_count == 0);
	(void)close(server.fd);
	tear_down();
}

/* A socket that is connected to the server. */
static int
connected(const struct server *server)
{
	struct sockets_request request = { .kind = SOCKETS_ASKING,
		.family = (int)server->at.family,
		.port = (uint16_t)server->at.port };
	int fd;

	memcpy(request.address, server->at.address, sizeof(request.address));
	fd = sockets_open(&request, 0);
	CHECK(fd >= 0);
	return fd;
}

/* Another thread has asked by a socket of its own: the reply is for us. */
static void
a_socket_that_has_asked_is_taken_over(void)
{
	struct server server;
	const uint8_t *octets;
	struct upstream_socket *u;
	int fd;

	set_up();
	serve(&server, AF_INET);
	fd = connected(&server);
	CHECK(send(fd, "ask", 3, 0) == 3);
	(void)hear(&server);
	reply(&server, "early");	/* before it is taken over, */
	CHECK(upstream_sockets_adopt(&all, 7, &server.at, fd) == 0);
	reply(&server, "late");		/* and behind that */
	u = wait_for_event();
	CHECK(u->attempt == 7 && brings(u, "early") && brings(u, "late"));
	CHECK(upstream_sockets_receive(&all, u, &octets) == -EAGAIN);
	/* Then it is one of ours. */
	end(7);
	CHECK(all.idle_count == 1);
	ask(&server, 8);
	(void)hear(&server);
	reply(&server, "right");
	CHECK(wait_for_event() == u && u->attempt == 8 && brings(u, "right"));
	(void)close(server.fd);
	tear_down();
}

/* No epoll takes it: it is closed all the same. */
static void
one_that_cannot_be_taken_over_is_closed(void)
{
	const int before = open_files();
	struct server server;
	int fd;

	set_up();
	serve(&server, AF_INET);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK(upstream_sockets_adopt(&all, 7, &server.at, fd) ==
	    -EPERM);
	upstream_sockets_forget(&all, 7);
	upstream_sockets_end_round(&all, begun);
	CHECK(all.idle_count == 0);
	(void)close(server.fd);
	tear_down();
	CHECK(open_files() == before);
}

int
main(void)
{
	TEST(a_socket_that_has_asked_is_taken_over);
	TEST(one_that_cannot_be_taken_over_is_closed);
	TEST(ports_are_random_over_ipv4);
	TEST(ports_are_random_over_ipv6);
	TEST(replies_to_the_last_question_are_lost);
	TEST(another_server_is_not_heard);
	TEST(errors_of_the_last_question_are_lost);
	TEST(idle_sockets_are_few_and_closed_in_the_end);
	return test_summary();
}

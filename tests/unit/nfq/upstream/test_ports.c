/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sockets of questions to upstreams, over the loopback interface. */
#include "nfq/upstream/ports.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/open.h"
#include "tests/check.h"
#include "tests/loopback.h"

#define OFTEN		8	/* uses, then a socket keeps its source */
#define SOURCE_MS	1000
#define PORT_QUESTIONS	64
#define PORT_MS		20
#define IDLE_MS		10000
#define WAIT_MS		10000
#define MOST		64

static struct ports *s;
static struct forward_upstream to;
static const monotime_t start = { .ns = 5000000000 };
static int server;
static union sockets_address client;	/* who has asked last */
static socklen_t client_size;

static void
begin(int family)
{
	server = loopback_server(family, &to);
	s = calloc(1, sizeof(*s));
	MUST(s != NULL);
	MUST(ports_init(s, epoll_create1(EPOLL_CLOEXEC), 0, MOST) == 0);
	MUST(s->epoll >= 0);
}

static void
end(void)
{
	ports_free(s);
	(void)close(s->epoll);
	(void)close(server);
	free(s);
}

static struct port *
port_of(uint32_t attempt)
{
	for (unsigned int i = 0; i < s->used; i++)
		if (s->ports[i].fd >= 0 && s->ports[i].attempt == attempt)
			return &s->ports[i];
	return NULL;
}

static uint16_t
port_number(const union sockets_address *at)
{
	return ntohs(at->any.sa_family == AF_INET ? at->v4.sin_port :
	    at->v6.sin6_port);
}

/* Asks; the server has the question, and knows from where. */
static struct port *
ask(uint32_t attempt, int64_t ms)
{
	uint8_t octets[8];

	MUST(ports_send(s, monotime_add_ms(start, ms), attempt, &to,
	    (const uint8_t *)"question", 8) == 0);
	client_size = sizeof(client);
	MUST(recvfrom(server, octets, sizeof(octets), 0, &client.any,
	    &client_size) == 8);
	MUST(port_of(attempt) != NULL);
	return port_of(attempt);
}

static void
reply(char what)
{
	MUST(sendto(server, &what, 1, 0, &client.any, client_size) == 1);
}

/* What a port has got: an octet, 0 for none, or a negative errno. */
static int
take(struct port *one)
{
	const uint8_t *octets;
	const ssize_t n = ports_receive(s, one, &octets);

	return n == -EAGAIN ? 0 : n < 0 ? (int)n : octets[0];
}

/* Waits for an event: its port. */
static struct port *
wait_one(void)
{
	struct epoll_event event;

	MUST(epoll_wait(s->epoll, &event, 1, WAIT_MS) == 1);
	return event.data.ptr;
}

static unsigned int
source_of(const struct port *one)
{
	union sockets_address here;
	socklen_t size = sizeof(here);

	MUST(getsockname(one->fd, &here.any, &size) == 0);
	return here.any.sa_family == AF_INET ?
	    ntohl(here.v4.sin_addr.s_addr) & 0xff :
	    here.v6.sin6_addr.s6_addr[15];
}

/* Asked and answered so often, each time from a port of its own. */
static struct port *
use(unsigned int times, int64_t ms)
{
	struct port *one = NULL;
	uint16_t before = 0;
	unsigned int same = 0;

	for (unsigned int n = 0; n < times; n++) {
		one = ask(7, ms);
		same += port_number(&client) == before;
		before = port_number(&client);
		reply('a');
		CHECK(wait_one() == one && take(one) == 'a');
		ports_forget(s, 7);
		CHECK(one->attempt == PORTS_NOBODY);
		ports_are_empty(s);
	}
	CHECK(same < 3);
	return one;
}

TEST(a_socket_is_used_again_from_another_port)
{
	static const int families[] = { AF_INET, AF_INET6 };

	for (size_t i = 0; i < 2; i++) {
		begin(families[i]);
		CHECK(use(100, 0) == &s->ports[0] && s->used == 1);
		end();
	}
}

/* The kernel takes it to nobody: an idle socket has no port. */
TEST(a_late_reply_reaches_nobody)
{
	struct epoll_event event;
	struct port *one;

	begin(AF_INET);
	one = ask(1, 0);
	ports_forget(s, 1);
	reply('l');
	CHECK(epoll_wait(s->epoll, &event, 1, 0) == 0);
	/* One that came before it was forgotten is a straggler. */
	ports_are_empty(s);
	CHECK(ask(2, 0) == one);
	reply('s');
	CHECK(wait_one() == one);
	ports_forget(s, 2);
	CHECK(take(one) == 0);
	ports_close_straggler(s, one);
	CHECK(one->fd == -1);
	end();
}

TEST(what_is_used_often_keeps_its_source_for_a_second)
{
	struct port *one;

	begin(AF_INET);
	one = use(OFTEN - 1, 0);
	CHECK(source_of(one) == 0);
	CHECK(use(1, 0) == one && source_of(one) == 1);
	CHECK(use(100, SOURCE_MS - 1) == one && source_of(one) == 1);
	/* Then the route is looked for anew. */
	one = use(1, SOURCE_MS);
	CHECK(source_of(one) == 0);
	end();
}

/* To another address the kernel may choose another source. */
TEST(a_source_is_for_one_address)
{
	struct forward_upstream other;
	struct port *one;
	int second;

	begin(AF_INET);
	one = use(OFTEN, 0);
	CHECK(source_of(one) == 1);
	second = loopback_server(AF_INET, &other);
	other.address[3] = 2;
	MUST(ports_send(s, start, 9, &other, (const uint8_t *)"x", 1) == 0);
	CHECK(port_of(9) != one);
	CHECK(use(1, 0) == one);
	(void)close(second);
	end();
}

/* While many are under way, and only for a reply that nothing else came beside. */
TEST(a_port_serves_several)
{
	struct port *one;
	uint16_t number;

	begin(AF_INET);
	ports_keep(s, true);
	one = ask(1, 0);
	number = port_number(&client);
	for (uint32_t n = 1; n < PORT_QUESTIONS; n++) {
		reply('a');
		CHECK(wait_one() == one && take(one) == 'a');
		ports_forget(s, n);
		CHECK(ask(n + 1, 1) == one && port_number(&client) == number);
	}
	reply('a');
	CHECK(take(one) == 'a');
	ports_forget(s, PORT_QUESTIONS);
	(void)ask(500, 1);
	CHECK(port_number(&client) != number);
	number = port_number(&client);
	reply('b');
	CHECK(take(port_of(500)) == 'b');
	ports_forget(s, 500);
	(void)ask(501, PORT_MS + 1);		/* for a short time */
	CHECK(port_number(&client) != number);
	end();
}

/* What becomes of the port of a question; whether the next has it. */
static bool
is_kept(const char *replies)
{
	struct port *one;
	uint16_t number;

	begin(AF_INET);
	ports_keep(s, true);
	one = ask(1, 0);
	number = port_number(&client);
	for (; *replies != '\0'; replies++) {
		reply(*replies);
		MUST(take(one) == *replies);
		if (replies[1] == '\0')		/* the engine waits no more, or */
			break;
		(void)take(one);		/* it does yet */
	}
	ports_forget(s, 1);
	ports_are_empty(s);
	(void)ask(2, 0);
	end();
	return port_number(&client) == number;
}

TEST(a_port_that_something_else_came_to_serves_no_more)
{
	CHECK(is_kept("a"));
	CHECK(!is_kept(""));			/* its reply may come yet */
	CHECK(!is_kept("wa"));
}

TEST(errors_are_the_attempts)
{
	begin(AF_INET);
	(void)ask(1, 0);
	(void)close(server);
	MUST(ports_send(s, start, 2, &to, (const uint8_t *)"x", 1) == 0);
	CHECK(wait_one() == port_of(2) && take(port_of(2)) == -ECONNREFUSED);
	server = -1;
	end();
}

/* Those that nobody uses leave their descriptors to others. */
TEST(without_descriptors_an_idle_one_is_closed)
{
	struct rlimit before, few;
	struct forward_upstream other;
	struct port *one;
	int second;

	begin(AF_INET);
	one = use(OFTEN, 0);
	second = loopback_server(AF_INET6, &other);
	MUST(getrlimit(RLIMIT_NOFILE, &before) == 0);
	few = before;
	few.rlim_cur = (rlim_t)second + 1;
	MUST(setrlimit(RLIMIT_NOFILE, &few) == 0);
	CHECK(ports_send(s, start, 3, &other, (const uint8_t *)"x", 1) == 0);
	CHECK(one->fd == -1);
	CHECK(ports_send(s, start, 4, &other, (const uint8_t *)"x", 1) ==
	    -EMFILE);
	MUST(setrlimit(RLIMIT_NOFILE, &before) == 0);
	(void)close(second);
	end();
}

TEST(there_is_an_end_to_their_number)
{
	begin(AF_INET);
	for (uint32_t n = 0; n < MOST; n++)
		(void)ask(n, 0);
	CHECK(ports_send(s, start, MOST, &to, (const uint8_t *)"x", 1) ==
	    -EMFILE);
	ports_forget(s, 5);
	ports_are_empty(s);
	(void)ask(MOST, 0);
	end();
}

TEST(idle_ones_are_closed_in_the_end)
{
	struct port *one;

	begin(AF_INET);
	ports_age(s, monotime_add_ms(start, IDLE_MS));
	one = use(1, IDLE_MS);
	ports_age(s, monotime_add_ms(start, 2 * IDLE_MS - 1));
	CHECK(one->fd >= 0);
	ports_age(s, monotime_add_ms(start, 2 * IDLE_MS));
	CHECK(one->fd == -1);
	end();
}

/* Before the thread waits for something else, which tells of no straggler. */
TEST(before_a_wait_elsewhere_each_is_looked_at)
{
	struct port *one, *two;
	union sockets_address first;

	begin(AF_INET);
	one = ask(1, 0);
	first = client;
	two = ask(2, 0);
	client = first;
	for (unsigned int n = 0; n < 100; n++)
		reply('x');
	ports_forget(s, 1);
	ports_forget(s, 2);
	ports_rest(s);
	CHECK(one->fd == -1 && two->fd >= 0);	/* too much had come */
	CHECK(ask(3, 0) == two);
	end();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sockets of questions that a queue thread asks, over the loopback interface. */
#include "nfq/forward/express_sockets.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/address.h"
#include "tests/check.h"
#include "tests/loopback.h"
#include "tests/packets.h"

#define OFTEN		8	/* uses, then a socket keeps its source */
#define SOURCE_MS	1000
#define PORT_QUESTIONS	64
#define PORT_MS		20

static struct express_sockets *s;
static struct forward_upstream to;
static struct express_attempt *const attempt = (struct express_attempt *)&to;
static const monotime_t start = { .ns = 5000000000 };
static int server;

static void
begin(int family)
{
	server = loopback_server(family, &to);
	s = calloc(1, sizeof(*s));
	MUST(s != NULL);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	MUST(s->epoll >= 0);
	express_sockets_init(s);
}

static void
end(void)
{
	express_sockets_free(s);
	(void)close(s->epoll);
	(void)close(server);
	free(s);
}

static struct express_socket *
take(int64_t ms)
{
	struct express_socket *one = express_sockets_take(s, attempt, &to,
	    monotime_add_ms(start, ms));

	MUST(one != NULL && one->fd >= 0 && one->attempt == attempt);
	return one;
}

/* The source's last octet, and its port in *port. */
static unsigned int
source_of(const struct express_socket *one, uint16_t *port)
{
	union sockets_address here;
	socklen_t size = sizeof(here);

	MUST(getsockname(one->fd, &here.any, &size) == 0);
	*port = ntohs(here.any.sa_family == AF_INET ? here.v4.sin_port :
	    here.v6.sin6_port);
	return here.any.sa_family == AF_INET ?
	    ntohl(here.v4.sin_addr.s_addr) & 0xff :
	    here.v6.sin6_addr.s6_addr[15];
}

/* Used so often; each time from a port of its own. */
static struct express_socket *
use(unsigned int times, int64_t ms)
{
	struct express_socket *one = NULL;
	uint16_t port, before = 0;
	unsigned int same = 0;

	for (unsigned int n = 0; n < times; n++) {
		one = take(ms);
		CHECK(source_of(one, &port) == 1 && port != 0);
		same += port == before;
		before = port;
		express_sockets_done(s, one);
		express_sockets_are_empty(s);
	}
	CHECK(same < 3);
	return one;
}

/* Nothing can reach an idle one: it has no port. */
static void
idle_ones_have_no_port(void)
{
	static const int families[] = { AF_INET, AF_INET6 };
	struct express_socket *one;
	uint16_t port;

	for (size_t i = 0; i < 2; i++) {
		begin(families[i]);
		for (unsigned int n = 1; n <= 2 * OFTEN; n++) {
			one = use(1, 0);
			(void)source_of(one, &port);
			CHECK(port == 0 && one->attempt == NULL);
		}
		end();
	}
}

static void
what_is_used_often_keeps_its_source_for_a_second(void)
{
	struct express_socket *one;
	uint16_t port;

	begin(AF_INET);
	one = use(OFTEN - 1, 0);
	CHECK(source_of(one, &port) == 0);
	CHECK(use(1, 0) == one && source_of(one, &port) == 1);
	CHECK(use(100, SOURCE_MS - 1) == one && source_of(one, &port) == 1);
	/* Then the route is looked for anew. */
	one = use(1, SOURCE_MS);
	CHECK(source_of(one, &port) == 0);
	one = use(OFTEN - 1, SOURCE_MS);
	CHECK(source_of(one, &port) == 1);
	CHECK(use(OFTEN, 2 * SOURCE_MS - 1) == one);
	CHECK(source_of(one, &port) == 1);
	end();
}

/* To another address the kernel may choose another source. */
static void
a_source_is_for_one_address(void)
{
	struct express_socket *one, *two;
	uint16_t port;

	begin(AF_INET);
	one = use(OFTEN, 0);
	CHECK(source_of(one, &port) == 1);
	to.address[3] = 2;
	two = use(1, 0);
	CHECK(two != one && source_of(two, &port) == 0);
	CHECK(use(OFTEN, 0) == two);
	/* Both stay, and another port of the same address makes no difference. */
	to.address[3] = 1;
	to.port++;
	CHECK(use(2, 0) == one && source_of(one, &port) == 1);
	end();
}

static void
the_place_of_an_idle_one_can_be_had(void)
{
	struct express_socket *one;

	begin(AF_INET);
	one = use(OFTEN, 0);
	s->used = EXPRESS_SOCKETS;
	to.address[3] = 2;
	CHECK(take(0) == one && !one->keeps_source);
	CHECK(express_sockets_take(s, attempt, &to, start) == NULL);
	for (unsigned int n = 1; n < EXPRESS_SOCKETS; n++)
		s->sockets[n].fd = -1;
	end();
}

/* The address of the machine that it keeps is no longer there. */
static void
a_source_that_is_gone_is_not_kept(void)
{
	union sockets_address gone;
	struct express_socket *one;
	const uint8_t nobody[16] = { 192, 0, 2, 200 };
	uint16_t port;
	socklen_t size;

	begin(AF_INET);
	one = use(OFTEN, 0);
	size = sockets_address_make(&gone, AF_INET, nobody, 0, 0);
	MUST(setsockopt(one->fd, SOL_IP, IP_FREEBIND, &(int){ 1 },
	    sizeof(int)) == 0);
	MUST(bind(one->fd, &gone.any, size) == 0);
	one = use(1, 1);
	CHECK(source_of(one, &port) == 0);
	end();
}

/* Whether they are empty is not known before a wait. */
static void
none_is_used_twice_without_a_look(void)
{
	struct express_socket *one, *two;

	begin(AF_INET);
	one = take(0);
	express_sockets_done(s, one);
	two = take(0);
	CHECK(two != one);
	express_sockets_done(s, two);
	express_sockets_are_empty(s);
	CHECK(take(0) == two && take(0) == one);	/* the last used */
	end();
}

static void
before_a_wait_elsewhere_each_is_looked_at(void)
{
	union sockets_address client;
	socklen_t size = sizeof(client);
	struct express_socket *one, *two;

	begin(AF_INET);
	one = take(0);
	two = take(0);
	MUST(getsockname(two->fd, &client.any, &size) == 0);
	for (unsigned int n = 0; n < 100; n++)
		CHECK(sendto(server, "x", 1, 0, &client.any, size) == 1);
	express_sockets_done(s, one);
	express_sockets_done(s, two);
	express_sockets_rest(s);
	/* Too much had come for the second: it is closed. */
	CHECK(two->fd == -1 && one->fd >= 0);
	CHECK(take(0) == one);
	end();
}

static void
one_for_another_family_is_opened_anew(void)
{
	struct express_socket *one;
	const struct forward_upstream first = (begin(AF_INET), to);
	uint16_t port;

	one = use(OFTEN, 0);
	end();
	begin(AF_INET6);
	one = use(1, 0);
	to = first;
	one = take(0);
	CHECK(source_of(one, &port) == 1 && one->to.family == AF_INET);
	end();
}

static void
there_is_an_end_to_their_number(void)
{
	begin(AF_INET);
	s->used = EXPRESS_SOCKETS - 1;
	for (unsigned int n = 0; n < s->used; n++)
		s->sockets[n].fd = -1;
	(void)take(0);
	CHECK(express_sockets_take(s, attempt, &to, start) == NULL);
	end();
}

/* Nothing is lost by it: as soon as there are some, all goes on. */
static void
without_descriptors_none_is_taken(void)
{
	struct rlimit files, none;
	struct express_socket *one;

	begin(AF_INET);
	one = use(OFTEN, 0);
	MUST(getrlimit(RLIMIT_NOFILE, &files) == 0);
	none = files;
	none.rlim_cur = 0;
	MUST(setrlimit(RLIMIT_NOFILE, &none) == 0);
	/* One that is idle needs none, */
	CHECK(take(0) == one);
	for (unsigned int n = 0; n < 3; n++)
		CHECK(express_sockets_take(s, attempt, &to, start) == NULL);
	/* but its second is over then. */
	express_sockets_done(s, one);
	express_sockets_are_empty(s);
	CHECK(express_sockets_take(s, attempt, &to,
	    monotime_add_ms(start, SOURCE_MS)) == NULL);
	MUST(setrlimit(RLIMIT_NOFILE, &files) == 0);
	(void)use(1, SOURCE_MS);
	CHECK(s->used <= 2);
	end();
}

/* Descriptor, and place, are free after a failure. */
static void
what_cannot_be_connected_is_closed(void)
{
	begin(AF_INET);
	memcpy(to.address, (const uint8_t[]){ 255, 255, 255, 255 }, 4);
	for (unsigned int n = 0; n < 3; n++)
		CHECK(express_sockets_take(s, attempt, &to, start) == NULL);
	CHECK(s->used == 1 && s->sockets[0].fd == -1);
	end();
}

/* It asks and has its answer.  The port that it had. */
static uint16_t
ask(int64_t ms)
{
	struct express_socket *one = take(ms);
	uint16_t port;

	(void)source_of(one, &port);
	express_sockets_done(s, one);
	return port;
}

static void
while_many_are_under_way_a_port_serves_several(void)
{
	static const int families[] = { AF_INET, AF_INET6 };

	for (size_t i = 0; i < 2; i++) {
		uint16_t port;

		begin(families[i]);
		express_sockets_keep_ports(s, true);
		port = ask(0);
		CHECK(port != 0);
		for (unsigned int n = 1; n < PORT_QUESTIONS; n++)
			CHECK(ask(0) == port);
		CHECK(ask(0) != port);
		end();
	}
}

static void
a_port_serves_for_a_short_time(void)
{
	uint16_t port;

	begin(AF_INET);
	express_sockets_keep_ports(s, true);
	port = ask(0);
	CHECK(ask(PORT_MS - 1) == port);
	CHECK(ask(PORT_MS) != port);
	CHECK(ask(PORT_MS) != port);
	end();
}

static void
a_port_has_one_question_at_a_time(void)
{
	struct express_socket *one, *two;
	uint16_t first, second;

	begin(AF_INET);
	express_sockets_keep_ports(s, true);
	one = take(0);
	two = take(0);
	(void)source_of(one, &first);
	(void)source_of(two, &second);
	CHECK(one != two && first != second);
	end();
}

static void
ports_are_given_up_as_soon_as_few_are_under_way(void)
{
	struct express_socket *one, *two;
	uint16_t port;

	begin(AF_INET);
	express_sockets_keep_ports(s, true);
	one = take(0);
	two = take(0);
	express_sockets_done(s, one);
	(void)source_of(one, &port);
	CHECK(port != 0);
	express_sockets_keep_ports(s, false);
	(void)source_of(one, &port);
	CHECK(port == 0);
	express_sockets_done(s, two);
	(void)source_of(two, &port);
	CHECK(port == 0);
	/* As others: something may have come to them meanwhile. */
	CHECK(take(0) != one);
	end();
}

static void
a_port_is_for_one_upstream(void)
{
	const uint16_t first = (begin(AF_INET),
	    express_sockets_keep_ports(s, true), ask(0));

	to.port++;
	CHECK(ask(0) != first);
	to.port--;
	CHECK(ask(0) == first);
	to.address[3] = 2;
	CHECK(ask(0) != first);
	end();
}

/* Those of other upstreams do not stand in the way. */
static void
the_place_of_one_with_a_port_can_be_had(void)
{
	struct express_socket *one;

	begin(AF_INET);
	express_sockets_keep_ports(s, true);
	one = take(0);
	express_sockets_done(s, one);
	s->used = EXPRESS_SOCKETS;
	to.port++;
	CHECK(take(0) == one && one->to.port == to.port);
	for (unsigned int n = 1; n < EXPRESS_SOCKETS; n++)
		s->sockets[n].fd = -1;
	end();
}

int
main(void)
{
	TEST(idle_ones_have_no_port);
	TEST(what_is_used_often_keeps_its_source_for_a_second);
	TEST(a_source_is_for_one_address);
	TEST(the_place_of_an_idle_one_can_be_had);
	TEST(a_source_that_is_gone_is_not_kept);
	TEST(none_is_used_twice_without_a_look);
	TEST(before_a_wait_elsewhere_each_is_looked_at);
	TEST(one_for_another_family_is_opened_anew);
	TEST(there_is_an_end_to_their_number);
	TEST(without_descriptors_none_is_taken);
	TEST(what_cannot_be_connected_is_closed);
	TEST(while_many_are_under_way_a_port_serves_several);
	TEST(a_port_serves_for_a_short_time);
	TEST(a_port_has_one_question_at_a_time);
	TEST(ports_are_given_up_as_soon_as_few_are_under_way);
	TEST(a_port_is_for_one_upstream);
	TEST(the_place_of_one_with_a_port_can_be_had);
	return test_summary();
}

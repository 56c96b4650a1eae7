/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether clients' sockets are there: messages, the kernel's word, and the bounds. */
#include "nfq/held/client_sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/packet/packet.h"
#include "tests/check.h"

#define LOOKUPS	2000
#define SECOND	1000

static const uint8_t packet4[] = {
	0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 53,
	0x80, 1, 0, 53, 0, 12, 0, 0, 'd', 'n', 's', '?',
};
static const uint8_t packet6[] = {
	0x60, 0, 0, 0, 0, 12, 17, 64,
	0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 53,
	0x80, 1, 0, 53, 0, 12, 0, 0, 'd', 'n', 's', '?',
};

static struct client_socket
socket_of(const uint8_t *octets, size_t length)
{
	struct packet packet;

	CHECK(packet_parse(&packet, octets, length, length) == PACKET_OK);
	return client_socket_of(&packet, 7);
}

/* The octets as struct inet_diag_req_v2 has them behind a header of 16. */
static void
a_request_says_where_the_answer_would_go(void)
{
	static const uint8_t expected[CLIENT_SOCKET_REQUEST - 16] = {
		AF_INET, IPPROTO_UDP, 0, 0, 0xff, 0xff, 0xff, 0xff,
		0, 53, 0x80, 1,
		192, 0, 2, 53, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		192, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	};
	_Alignas(8) uint8_t octets[CLIENT_SOCKET_REQUEST];
	const struct nlmsghdr *header = (const void *)octets;
	struct client_socket s = socket_of(packet4, sizeof(packet4));
	uint32_t device;

	client_socket_request(&s, 99, octets);
	CHECK(header->nlmsg_len == sizeof(octets) && header->nlmsg_seq == 99);
	CHECK(header->nlmsg_type == SOCK_DIAG_BY_FAMILY);
	/* With NLM_F_DUMP the kernel would list all sockets. */
	CHECK(header->nlmsg_flags == NLM_F_REQUEST);
	CHECK(memcmp(octets + 16, expected, 44) == 0);
	memcpy(&device, octets + 60, sizeof(device));
	CHECK(device == 7);
	for (size_t i = 64; i < sizeof(octets); i++)
		CHECK(octets[i] == 0xff);	/* any cookie */
	s = socket_of(packet6, sizeof(packet6));
	client_socket_request(&s, 99, octets);
	CHECK(octets[16] == AF_INET6);
	CHECK(memcmp(octets + 28, packet6 + 24, 16) == 0);
	CHECK(memcmp(octets + 44, packet6 + 8, 16) == 0);
}

struct reply {
	struct nlmsghdr header;
	union {
		struct nlmsgerr error;
		struct inet_diag_msg found;
	};
};

static int
read_reply(struct reply *r, uint16_t type, uint32_t octets)
{
	r->header.nlmsg_type = type;
	r->header.nlmsg_len = octets;
	return client_socket_reply((const uint8_t *)r, octets, 99);
}

static void
a_reply_is_read_within_its_bounds(void)
{
	const uint32_t header = sizeof(struct nlmsghdr),
	    found = header + sizeof(struct inet_diag_msg),
	    error = header + sizeof(int);
	struct reply r = { .header.nlmsg_seq = 99 };

	for (uint32_t octets = 0; octets < found; octets++)
		CHECK(read_reply(&r, SOCK_DIAG_BY_FAMILY, octets) < 0);
	CHECK(read_reply(&r, SOCK_DIAG_BY_FAMILY, found) == 0);
	r.header.nlmsg_len = found + 1;		/* more than there is */
	CHECK(client_socket_reply((const uint8_t *)&r, found, 99) == -EBADMSG);
	r.error.error = -ENOENT;
	for (uint32_t octets = header; octets < error; octets++)
		CHECK(read_reply(&r, NLMSG_ERROR, octets) == -EBADMSG);
	CHECK(read_reply(&r, NLMSG_ERROR, error) == -ENOENT);
	r.header.nlmsg_len = UINT32_MAX - 15;	/* back to itself, as an int */
	CHECK(client_socket_reply((const uint8_t *)&r, sizeof(r), 99) ==
	    -EBADMSG);
	r.error.error = 0;			/* asked for by nobody */
	CHECK(read_reply(&r, NLMSG_ERROR, error) == -EBADMSG);
	CHECK(read_reply(&r, NLMSG_DONE, error) == -EBADMSG);
	r.error.error = -ENOENT;
	r.header.nlmsg_seq = 98;
	CHECK(read_reply(&r, NLMSG_ERROR, error) == -EPROTO);
	CHECK(read_reply(&r, SOCK_DIAG_BY_FAMILY, found) == -EPROTO);
}

/* The kernel's word */

/* Connected to 127.0.0.1; the caller closes it. */
static int
connected(int type, in_port_t port)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = port,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	CHECK(connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0);
	return fd;
}

/* Whom a packet from 127.0.0.1, port 53, would get to. */
static struct client_socket
of(int fd)
{
	struct client_socket s = { .family = AF_INET, .server_port = 53,
		.client = { 127, 0, 0, 1 }, .server = { 127, 0, 0, 1 } };
	struct sockaddr_in own;
	socklen_t size = sizeof(own);

	CHECK(getsockname(fd, (struct sockaddr *)&own, &size) == 0);
	s.client_port = ntohs(own.sin_port);
	return s;
}

static void
the_kernel_says_who_is_gone(void)
{
	const monotime_t begin = monotime_from_ms(SECOND);
	const int known = connected(SOCK_DGRAM, htons(9));
	const int client = connected(SOCK_DGRAM, htons(53));
	struct client_socket there = of(client), other = there;
	struct client_sockets all;

	other.server[3] = 2;
	CHECK(client_sockets_open(&all, known, begin) == 0);
	CHECK(!client_sockets_is_gone(&all, &there, begin));
	CHECK(client_sockets_is_gone(&all, &other, begin));	/* connected */
	(void)close(client);
	CHECK(client_sockets_is_gone(&all, &there, begin));
	/* Our own is looked for again, and found. */
	CHECK(client_sockets_is_gone(&all, &there,
	    monotime_from_ms(10 * SECOND)));
	(void)close(known);
	CHECK(client_sockets_is_gone(&all, &there,
	    monotime_from_ms(11 * SECOND - 1)));
	/* As without the module: nothing is known from here on. */
	CHECK(!client_sockets_is_gone(&all, &there,
	    monotime_from_ms(11 * SECOND)));
	CHECK(!client_sockets_may_ask(&all, monotime_from_ms(11 * SECOND)));
	client_sockets_close(&all);
}

/* A socket of TCP is not found among those of UDP. */
static void
nothing_is_known_if_our_own_is_not_found(void)
{
	const monotime_t begin = monotime_from_ms(SECOND);
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(at);
	struct client_socket s;
	struct client_sockets all;
	int known;

	CHECK(bind(listener, (const struct sockaddr *)&at, size) == 0 &&
	    listen(listener, 1) == 0 &&
	    getsockname(listener, (struct sockaddr *)&at, &size) == 0);
	known = connected(SOCK_STREAM, at.sin_port);
	s = of(known);
	CHECK(client_sockets_open(&all, known, begin) == -ENOENT);
	CHECK(!client_sockets_is_gone(&all, &s, begin));
	CHECK(!client_sockets_may_ask(&all, begin));
	client_sockets_close(&all);
	CHECK(client_sockets_open(&all, -EAFNOSUPPORT, begin) ==
	    -EAFNOSUPPORT);
	CHECK(!client_sockets_is_gone(&all, &s, begin));
	client_sockets_close(&all);
	(void)close(known);
	(void)close(listener);
}

static void
what_is_spent_in_a_second_is_bounded(void)
{
	const monotime_t begin = monotime_from_ms(SECOND);
	const int known = connected(SOCK_DGRAM, htons(9));
	struct client_sockets all;

	CHECK(client_sockets_open(&all, known, begin) == 0);
	CHECK(client_sockets_may_ask(&all, begin));
	client_sockets_spend(&all, CLIENT_SOCKETS_SPEND_NS - 1);
	CHECK(client_sockets_may_ask(&all, monotime_from_ms(2 * SECOND - 1)));
	client_sockets_spend(&all, 1);
	CHECK(!client_sockets_may_ask(&all, monotime_from_ms(2 * SECOND - 1)));
	CHECK(client_sockets_may_ask(&all, monotime_from_ms(2 * SECOND)));
	client_sockets_close(&all);
	(void)close(known);
}

static void
a_look_is_short(void)
{
	const int known = connected(SOCK_DGRAM, htons(9));
	struct client_socket gone = of(known);
	struct client_sockets all;
	monotime_t begin = monotime_now();

	gone.server[3] = 2;
	CHECK(client_sockets_open(&all, known, begin) == 0);
	begin = monotime_now();
	for (int i = 0; i < LOOKUPS; i++)
		(void)client_sockets_is_gone(&all, &gone, begin);
	printf("figure: a look for a client's socket takes %.1f us\n",
	    (double)(monotime_now().ns - begin.ns) / 1000 / LOOKUPS);
	client_sockets_close(&all);
	(void)close(known);
}

/* Prints why if not: then our own socket is not found. */
static int
kernel_has_it(void)
{
	const int known = connected(SOCK_DGRAM, htons(9));
	struct client_sockets all;
	const int error = client_sockets_open(&all, known, monotime_now());

	client_sockets_close(&all);
	(void)close(known);
	if (error < 0)
		printf("SKIP the_kernel_says_who_is_gone: the kernel has no "
		    "udp_diag: %s\n", strerror(-error));
	return error == 0;
}

int
main(void)
{
	TEST(a_request_says_where_the_answer_would_go);
	TEST(a_reply_is_read_within_its_bounds);
	TEST(nothing_is_known_if_our_own_is_not_found);
	if (!kernel_has_it())
		return test_summary();
	TEST(the_kernel_says_who_is_gone);
	TEST(what_is_spent_in_a_second_is_bounded);
	TEST(a_look_is_short);
	return test_summary();
}

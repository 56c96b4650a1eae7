/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What came from nfdns-sockets is what was asked for; closing it never waits. */
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/address.h"
#include "nfq/sockets/client.h"
#include "nfq/sockets/open.h"
#include "nfq/sockets/received.h"
#include "resolver/fds.h"

#define WAIT_S	20		/* then close(2) waits, and the test ends */

static int listener;
static struct sockets_request asking, connection, listening;

static uint16_t
port_of(int fd)
{
	union sockets_address name;
	socklen_t size = sizeof(name);

	CHECK(getsockname(fd, &name.any, &size) == 0);
	return ntohs(name.v4.sin_port);
}

static void
set_up(void)
{
	listening = (struct sockets_request){ .kind = SOCKETS_LISTENER,
		.family = AF_INET, .address = { 127, 0, 0, 1 } };
	listener = sockets_open(&listening, 0);
	CHECK(listener >= 0 && listen(listener, 8) == 0);
	listening.port = port_of(listener);
	asking = connection = listening;
	asking.kind = SOCKETS_ASKING;
	connection.kind = SOCKETS_CONNECTION;
}

static void
tear_down(void)
{
	(void)close(listener);
}

/* Checks it, and closes it. */
static int
check(int fd, const struct sockets_request *request)
{
	const int error = sockets_check(fd, request);

	CHECK(fd >= 0);
	CHECK(error != 0 || (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
	sockets_discard(fd);
	return error;
}

/* As nfdns-sockets opens it, but that it blocks. */
static int
opened(const struct sockets_request *request)
{
	const int fd = sockets_open(request, 0);

	CHECK(fd >= 0 && fcntl(fd, F_SETFL, 0) == 0);
	return fd;
}

static void
what_was_asked_for_is_good(void)
{
	const struct sockets_request datagram = { .kind = SOCKETS_DATAGRAM,
		.family = AF_INET6 };
	int fd;

	set_up();
	CHECK(check(opened(&asking), &asking) == 0);
	CHECK(check(opened(&datagram), &datagram) == 0);
	CHECK(check(dup(listener), &listening) == 0);
	fd = opened(&connection);
	CHECK(sockets_check_peer(fd, &connection) == 0);
	CHECK(check(fd, &connection) == 0);
	tear_down();
}

static void
another_address_is_refused(void)
{
	struct sockets_request host, port;

	set_up();
	host = port = asking;
	host.address[3] = 2;
	port.port ^= 1;
	CHECK(check(opened(&host), &asking) == -EPROTO);
	CHECK(check(opened(&port), &asking) == -EPROTO);
	CHECK(check(socket(AF_INET, SOCK_DGRAM, 0), &asking) == -EPROTO);
	host.kind = port.kind = SOCKETS_CONNECTION;
	CHECK(check(opened(&connection), &host) == -EPROTO);
	CHECK(check(opened(&connection), &port) == -EPROTO);
	host.kind = port.kind = SOCKETS_LISTENER;
	CHECK(check(dup(listener), &host) == -EPROTO);
	CHECK(check(dup(listener), &port) == -EPROTO);
	tear_down();
}

static void
another_kind_is_refused(void)
{
	struct sockets_request other;
	int pair[2];

	set_up();
	CHECK(check(opened(&connection), &asking) == -EPROTO);
	CHECK(check(opened(&asking), &connection) == -EPROTO);
	CHECK(check(dup(listener), &connection) == -EPROTO);
	CHECK(check(opened(&connection), &listening) == -EPROTO);
	CHECK(check(epoll_create1(0), &asking) == -EPROTO);
	CHECK(check(memfd_create("other", 0), &connection) == -EPROTO);
	CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
	CHECK(check(pair[0], &asking) == -EPROTO);
	CHECK(check(pair[1], &(struct sockets_request){
	    .kind = SOCKETS_DATAGRAM, .family = AF_INET }) == -EPROTO);
	other = asking;
	other.family = AF_INET6;
	CHECK(check(opened(&asking), &other) == -EPROTO);
	tear_down();
}

/* A connection whose peer reads nothing, so that close(2) waits for an hour. */
static int
lingering(int *peer)
{
	static const uint8_t octets[65536];
	const struct linger hour = { .l_onoff = 1, .l_linger = 3600 };
	const int fd = sockets_open(&connection, 0);

	*peer = accept(listener, NULL, NULL);
	CHECK(fd >= 0 && *peer >= 0);
	while (send(fd, octets, sizeof(octets), MSG_DONTWAIT) > 0)
		;
	CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &hour, sizeof(hour)) == 0);
	return fd;
}

static void
closing_does_not_wait(void)
{
	int peer;

	set_up();
	CHECK(fcntl(listener, F_SETFL, 0) == 0);
	(void)alarm(WAIT_S);
	sockets_discard(lingering(&peer));
	(void)close(peer);
	sockets_end(lingering(&peer));
	(void)close(peer);
	sockets_discard(memfd_create("no-socket", 0));
	(void)alarm(0);
	tear_down();
}

#define EACH	4		/* in a message */

/* Such connections in a message of so many octets; nobody else has them then. */
static void
send_lingering(int channel, size_t length, int peers[static EACH])
{
	static const uint8_t octets[SOCKETS_REQUEST_LENGTH + 1];
	struct iovec iov = { (void *)(uintptr_t)octets, length };
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1 };
	union fds_ancillary ancillary;
	int fds[EACH];

	for (size_t i = 0; i < EACH; i++)
		fds[i] = lingering(&peers[i]);
	fds_attach(&header, &ancillary, fds, EACH);
	CHECK(sendmsg(channel, &header, 0) == (ssize_t)length);
	for (size_t i = 0; i < EACH; i++)
		(void)close(fds[i]);
}

/* Several in a message, an empty one, more behind it: all that is in the channel. */
static void
leaving_does_not_wait(void)
{
	static const size_t lengths[] = { SOCKETS_ANSWER_LENGTH, 0, 1,
		SOCKETS_REQUEST_LENGTH + 1 };
	const int on = 1;
	int ends[2], peers[4][EACH], fd;

	set_up();
	CHECK(fcntl(listener, F_SETFL, 0) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
	CHECK(setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on,
	    sizeof(on)) == 0);
	for (size_t i = 0; i < 4; i++)
		send_lingering(ends[1], lengths[i], peers[i]);
	(void)alarm(WAIT_S);
	CHECK(sockets_answer(ends[0], geteuid(), &asking, &fd) == -EPROTO);
	sockets_leave(ends[0]);
	(void)alarm(0);
	CHECK(send(ends[1], "", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE);
	for (size_t i = 0; i < 4 * EACH; i++)
		(void)close(peers[i / EACH][i % EACH]);
	(void)close(ends[1]);
	tear_down();
}

int
main(void)
{
	TEST(what_was_asked_for_is_good);
	TEST(another_address_is_refused);
	TEST(another_kind_is_refused);
	TEST(closing_does_not_wait);
	TEST(leaving_does_not_wait);
	return test_summary();
}

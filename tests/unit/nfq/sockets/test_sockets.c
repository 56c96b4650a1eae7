/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests for sockets and their answers, without the process behind them. */
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/channel.h"
#include "nfq/sockets/client.h"

static int ours, theirs;
static const struct sockets_request asked = { .kind = SOCKETS_DATAGRAM,
	.family = AF_INET };

static void
set_up(void)
{
	const int on = 1;
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0,
	    ends) == 0);
	ours = ends[0];
	theirs = ends[1];
	CHECK(setsockopt(ours, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0);
}

static void
tear_down(void)
{
	(void)close(ours);
	(void)close(theirs);
}

static bool
same(const struct sockets_request *a, const struct sockets_request *b)
{
	return a->kind == b->kind && a->family == b->family &&
	    memcmp(a->address, b->address, 16) == 0 &&
	    a->scope_id == b->scope_id && a->port == b->port &&
	    a->has_source == b->has_source && a->device == b->device &&
	    memcmp(a->source, b->source, 16) == 0;
}

static void
requests_arrive_as_sent(void)
{
	static const struct sockets_request requests[] = {
	    {.kind = SOCKETS_DATAGRAM, .family = AF_INET6},
	    {.kind = SOCKETS_CONNECTION,
		.family = AF_INET,
		.port = 53,
		.address = {192, 0, 2, 53}},
	    {.kind = SOCKETS_CONNECTION,
		.family = AF_INET6,
		.port = 65535,
		.address = {0xfe, 0x80, [15] = 1},
		.scope_id = 0x12345678},
	    {.kind = SOCKETS_CONNECTION,
		.family = AF_INET,
		.port = 53,
		.address = {192, 0, 2, 53},
		.has_source = true,
		.source = {192, 0, 2, 1},
		.device = 0x12345678},
	    {.kind = SOCKETS_CONNECTION,
		.family = AF_INET6,
		.port = 53,
		.address = {0x20, 1, [15] = 1},
		.has_source = true,
		.source = {0x20, 1, [15] = 2}},
	    {.kind = SOCKETS_LISTENER,
		.family = AF_INET6,
		.port = 5300,
		.address = {[15] = 1}},
	    {.kind = SOCKETS_RESTRICT},
	};

	set_up();
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		struct sockets_received received;
		struct sockets_request got;

		CHECK(sockets_request(ours, &requests[i]) == 0);
		CHECK(sockets_channel_receive(theirs, &received) == 0);
		CHECK(received.fd == -1);
		CHECK(sockets_request_parse(
			  &got, received.octets, received.length) == 0);
		CHECK(same(&got, &requests[i]));
	}
	tear_down();
}

/* Has the other end say this; what our end makes of it. */
static int
hear(const uint8_t *octets, size_t length, int with, int *fd)
{
	CHECK(sockets_channel_send(theirs, octets, length, with) == 0);
	return sockets_answer(ours, geteuid(), &asked, fd);
}

static void
answers_bring_a_socket_or_an_error(void)
{
	uint8_t octets[SOCKETS_ANSWER_LENGTH + 1] = {0};
	const int sent = socket(AF_INET, SOCK_DGRAM, 0);
	int fd;

	set_up();
	CHECK(sockets_answer(ours, geteuid(), &asked, &fd) == -EAGAIN &&
	    fd == -1);
	sockets_answer_write(0, octets);
	CHECK(hear(octets, SOCKETS_ANSWER_LENGTH, sent, &fd) == 0);
	CHECK(fd > STDERR_FILENO && (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	CHECK((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
	(void)close(fd);
	/* Nobody wants it any more; or it is none of that kind. */
	CHECK(sockets_channel_send(theirs, octets, SOCKETS_ANSWER_LENGTH,
	    sent) == 0);
	CHECK(sockets_answer(ours, geteuid(), NULL, &fd) == 0 && fd == -1);
	CHECK(hear(octets, SOCKETS_ANSWER_LENGTH, STDIN_FILENO, &fd) ==
	    -EPROTO && fd == -1);
	sockets_answer_write(ENETUNREACH, octets);
	CHECK(hear(octets, SOCKETS_ANSWER_LENGTH, -1, &fd) == 0);
	CHECK(fd == -ENETUNREACH);
	/* What makes no sense; and what came with it is closed. */
	CHECK(hear(octets, SOCKETS_ANSWER_LENGTH, sent, &fd) == -EPROTO);
	CHECK(fcntl(ours > theirs ? ours + 1 : theirs + 1, F_GETFD) < 0);
	CHECK(hear(octets, SOCKETS_ANSWER_LENGTH + 1, -1, &fd) == -EPROTO);
	sockets_answer_write(0, octets);
	CHECK(hear(octets, SOCKETS_ANSWER_LENGTH, -1, &fd) == -EPROTO);
	CHECK(fd == -1);
	(void)close(sent);
	tear_down();
}

static void
others_answer_in_vain(void)
{
	uint8_t octets[SOCKETS_ANSWER_LENGTH];
	int fd;

	set_up();
	sockets_answer_write(0, octets);
	CHECK(sockets_channel_send(
		  theirs, octets, sizeof(octets), STDIN_FILENO) == 0);
	CHECK(sockets_answer(ours, geteuid() + 1, &asked, &fd) == -EPERM &&
	    fd == -1);
	(void)close(theirs);
	CHECK(sockets_answer(ours, geteuid(), &asked, &fd) == -ECONNRESET);
	CHECK(sockets_request(ours, &(struct sockets_request){
					.kind = SOCKETS_RESTRICT}) == -EPIPE);
	tear_down();
}

/* Nobody sends more than one, but somebody could. */
static void
many_sockets_are_closed(void)
{
	union {
		char octets[CMSG_SPACE(3 * sizeof(int))];
		struct cmsghdr align;
	} ancillary = { .octets = { 0 } };
	const int fds[3] = { STDIN_FILENO, STDIN_FILENO, STDIN_FILENO };
	struct iovec iov = { (char[]){ 1 }, 1 };
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = ancillary.octets,
		.msg_controllen = sizeof(ancillary.octets) };
	struct sockets_received received;
	int first_free;

	set_up();
	first_free = fcntl(STDIN_FILENO, F_DUPFD, 0);
	(void)close(first_free);
	ancillary.align.cmsg_level = SOL_SOCKET;
	ancillary.align.cmsg_type = SCM_RIGHTS;
	ancillary.align.cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(&ancillary.align), fds, sizeof(fds));
	CHECK(sendmsg(theirs, &header, 0) == 1);
	CHECK(sockets_channel_receive(ours, &received) == -EPROTO);
	CHECK(received.fd == -1);
	CHECK(fcntl(STDIN_FILENO, F_DUPFD, 0) == first_free);
	(void)close(first_free);
	tear_down();
}

int
main(void)
{
	TEST(requests_arrive_as_sent);
	TEST(answers_bring_a_socket_or_an_error);
	TEST(others_answer_in_vain);
	TEST(many_sockets_are_closed);
	return test_summary();
}

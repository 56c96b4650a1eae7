/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors in messages: none, some, too many, and where they end up. */
#include "resolver/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"

static int ends[2];

static void
send_fds(const int *fds, size_t count)
{
	struct iovec iov = { (char[]){ "x" }, 1 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	union fds_ancillary ancillary;

	fds_attach(&message, &ancillary, fds, count);
	CHECK(sendmsg(ends[0], &message, 0) == 1);
}

/* Returns how many came; "flags" is what recvmsg(2) says of the message. */
static size_t
receive_fds(size_t expected, int *fds, size_t room, int *flags)
{
	char octet;
	struct iovec iov = { &octet, 1 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	union fds_ancillary ancillary;

	fds_expect(&message, &ancillary, expected);
	CHECK(recvmsg(ends[1], &message, MSG_CMSG_CLOEXEC) == 1);
	*flags = message.msg_flags;
	return fds_take(&message, fds, room);
}

static int
lowest_free(void)
{
	int fd = dup(0);

	(void)close(fd);
	return fd;
}

TEST(none_some_and_all)
{
	const size_t counts[] = { 0, 1, 7, FDS_MAX };
	int fds[FDS_MAX], out[FDS_MAX], flags;

	for (size_t i = 0; i < FDS_MAX; i++)
		fds[i] = (int)(i % 3);
	for (size_t n = 0; n < 4; n++) {
		send_fds(fds, counts[n]);
		CHECK(receive_fds(FDS_MAX, out, FDS_MAX, &flags) ==
		    counts[n]);
		CHECK((flags & MSG_CTRUNC) == 0);
		for (size_t i = 0; i < counts[n]; i++) {
			CHECK(fcntl(out[i], F_GETFD) == FD_CLOEXEC);
			(void)close(out[i]);
		}
	}
}

TEST(more_than_there_is_room_for_are_closed)
{
	const int before = lowest_free(), fds[] = { 0, 1, 2, 0 };
	int out[2] = { -1, -1 }, flags;

	send_fds(fds, 4);
	CHECK(receive_fds(4, out, 2, &flags) == 4);
	CHECK(out[0] >= 0 && out[1] >= 0);
	(void)close(out[0]);
	(void)close(out[1]);
	CHECK(lowest_free() == before);
}

TEST(more_than_were_expected_are_cut_off)
{
	const int before = lowest_free();
	int fds[FDS_MAX] = { 0 }, out[1] = { -1 }, flags;

	send_fds(fds, FDS_MAX);
	CHECK(receive_fds(1, out, 1, &flags) > 1);
	CHECK((flags & MSG_CTRUNC) != 0);
	(void)close(out[0]);
	CHECK(lowest_free() == before);
}

static void
nothing(int number)
{
	(void)number;
}

/*
 * A pipe that is full after a page, whose reader takes a bit at a time, and each
 * time a signal that ends the write(2) where it is.
 */
TEST(writes_all_parts_however_little_is_taken)
{
	static char sent[100000], got[sizeof(sent) + 1];
	struct iovec parts[] = { { sent, 49999 }, { NULL, 0 },
		{ sent + 49999, 1 }, { sent + 50000, sizeof(sent) - 50000 } };
	const struct sigaction interrupt = { .sa_handler = nothing };
	int pipes[2], status;
	size_t used = 0;
	ssize_t n;
	pid_t writer;

	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (char)(i * 7 % 251);
	if (pipe2(pipes, O_CLOEXEC) != 0 ||
	    sigaction(SIGUSR1, &interrupt, NULL) < 0 ||
	    fcntl(pipes[1], F_SETPIPE_SZ, 4096) < 0 || (writer = fork()) < 0)
		abort();
	if (writer == 0)
		_exit(fds_write_all(pipes[1], parts, 4) == 0 ? 0 : 1);
	(void)close(pipes[1]);
	while (used < sizeof(got) && (n = read(pipes[0], got + used,
	    sizeof(got) - used < 777 ? sizeof(got) - used : 777)) > 0) {
		used += (size_t)n;
		(void)kill(writer, SIGUSR1);
	}
	CHECK(waitpid(writer, &status, 0) == writer && status == 0);
	CHECK(used == sizeof(sent) && memcmp(got, sent, used) == 0);
	(void)close(pipes[0]);
}

TEST(says_why_it_cannot_write)
{
	char octet = 'x';
	struct iovec part = { &octet, 1 };
	const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	CHECK(full >= 0);
	CHECK(fds_write_all(full, &part, 1) == -ENOSPC);
	(void)close(full);
	CHECK(fds_write_all(-1, &part, 1) == -EBADF);
}

/* A pipe gives it in pieces. */
TEST(reads_all_there_is)
{
	static char sent[100000], got[sizeof(sent) + 1];
	int pipes[2], status;
	size_t length = 7;
	pid_t writer;

	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (char)(i * 7 % 251);
	if (pipe2(pipes, O_CLOEXEC) != 0 ||
	    fcntl(pipes[1], F_SETPIPE_SZ, 4096) < 0 || (writer = fork()) < 0)
		abort();
	if (writer == 0) {
		struct iovec part = { sent, sizeof(sent) };

		_exit(fds_write_all(pipes[1], &part, 1) == 0 ? 0 : 1);
	}
	(void)close(pipes[1]);
	CHECK(fds_read_all(pipes[0], got, 5, &length) == 0 && length == 5);
	CHECK(fds_read_all(pipes[0], got + 5, sizeof(got) - 5, &length) == 0);
	CHECK(length == sizeof(sent) - 5);
	CHECK(memcmp(got, sent, sizeof(sent)) == 0);
	CHECK(fds_read_all(pipes[0], got, 1, &length) == 0 && length == 0);
	CHECK(waitpid(writer, &status, 0) == writer && status == 0);
	(void)close(pipes[0]);
	CHECK(fds_read_all(-1, got, 1, &length) == -EBADF && length == 0);
}

int
main(void)
{
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	return test_run();
}

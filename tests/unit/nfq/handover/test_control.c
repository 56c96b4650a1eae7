/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/handover/control.h"

static int ends[2];

static void
set_up(void)
{
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) == 0);
}

static void
tear_down(void)
{
	(void)close(ends[0]);
	(void)close(ends[1]);
}

TEST(message_arrives_as_sent)
{
	struct control_message sent = { .kind = CONTROL_GENERATION_OK,
		.generation = 7, .names = 1000000, .octets = 1ULL << 33 };
	struct control_message got;
	int fds[CONTROL_MAX_FDS];

	set_up();
	CHECK(control_send(ends[0], &sent, NULL, 0) == 0);
	CHECK(control_receive(ends[1], &got, fds) == 0);
	CHECK(got.kind == CONTROL_GENERATION_OK && got.generation == 7);
	CHECK(got.names == 1000000 && got.octets == 1ULL << 33);
	CHECK(got.fd_count == 0);
	CHECK(control_receive(ends[1], &got, fds) == -EAGAIN);
	tear_down();
}

TEST(files_arrive_in_order)
{
	struct control_message sent = {.kind = CONTROL_AUDIT_FILES};
	struct control_message got;
	int pipes[AUDIT_MAX_FILES][2], out[AUDIT_MAX_FILES];
	int fds[CONTROL_MAX_FDS];

	set_up();
	for (int i = 0; i < AUDIT_MAX_FILES; i++) {
		CHECK(pipe(pipes[i]) == 0);
		out[i] = pipes[i][1];
	}
	CHECK(control_send(ends[0], &sent, out, AUDIT_MAX_FILES) == 0);
	CHECK(control_receive(ends[1], &got, fds) == 0);
	CHECK(got.fd_count == AUDIT_MAX_FILES);
	for (int i = 0; i < AUDIT_MAX_FILES; i++) {
		char letter = 0;

		CHECK((fcntl(fds[i], F_GETFD) & FD_CLOEXEC) != 0);
		CHECK(write(fds[i], &"abcdefghijklmnop"[i], 1) == 1);
		CHECK(read(pipes[i][0], &letter, 1) == 1);
		CHECK(letter == "abcdefghijklmnop"[i]);
		(void)close(fds[i]);
		(void)close(pipes[i][0]);
		(void)close(pipes[i][1]);
	}
	tear_down();
}

TEST(too_many_files_are_not_sent)
{
	const struct control_message sent = {.kind = CONTROL_AUDIT_FILES};
	int fds[CONTROL_MAX_FDS + 1] = {0};

	set_up();
	CHECK(control_send(ends[0], &sent, fds, CONTROL_MAX_FDS + 1) == -E2BIG);
	tear_down();
}

TEST(gone_peer_is_told)
{
	const struct control_message sent = { .kind = CONTROL_STOP };
	struct control_message got;
	int fds[CONTROL_MAX_FDS];

	set_up();
	(void)close(ends[1]);
	CHECK(control_send(ends[0], &sent, NULL, 0) == -EPIPE);
	CHECK(control_receive(ends[0], &got, fds) == -ECONNRESET);
	(void)close(ends[0]);
}

/* Whether octets that somebody else wrote are refused. */
static int
receive_raw(const void *octets, size_t length)
{
	struct control_message got;
	int fds[CONTROL_MAX_FDS];

	CHECK(send(ends[0], octets, length, 0) == (ssize_t)length);
	return control_receive(ends[1], &got, fds);
}

TEST(nonsense_is_refused)
{
	struct control_message wrong = { .kind = CONTROL_KINDS };
	char larger[sizeof(wrong) + 1] = { 0 };

	set_up();
	CHECK(receive_raw("x", 1) == -EPROTO);
	CHECK(receive_raw(&wrong, sizeof(wrong)) == -EPROTO);
	CHECK(receive_raw(larger, sizeof(larger)) == -EPROTO);
	wrong.kind = CONTROL_GENERATION;
	wrong.fd_count = 1;		/* says so, but has none */
	CHECK(receive_raw(&wrong, sizeof(wrong)) == -EPROTO);
	wrong.fd_count = 0;
	CHECK(receive_raw(&wrong, sizeof(wrong)) == 0);
	tear_down();
}

TEST(text_is_always_terminated)
{
	struct control_message sent = { .kind = CONTROL_GENERATION_BAD }, got;
	int fds[CONTROL_MAX_FDS];

	set_up();
	memset(sent.text, 'x', sizeof(sent.text));
	CHECK(control_send(ends[0], &sent, NULL, 0) == 0);
	CHECK(control_receive(ends[1], &got, fds) == 0);
	CHECK(strnlen(got.text, sizeof(got.text)) == CONTROL_TEXT - 1);
	tear_down();
}

/* What was said is known. */
TEST(no_descriptor_is_left_for_files)
{
	const struct control_message sent = { .kind = CONTROL_AUDIT_FILES };
	const int out[2] = { STDIN_FILENO, STDIN_FILENO };
	int fds[CONTROL_MAX_FDS], first_free;
	struct rlimit files, few;
	struct control_message got;

	set_up();
	first_free = fcntl(STDIN_FILENO, F_DUPFD, 0);
	(void)close(first_free);
	CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
	for (int left = 0; left < 2; left++) {
		CHECK(control_send(ends[0], &sent, out, 2) == 0);
		few = files;
		few.rlim_cur = (rlim_t)(first_free + left);
		CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
		CHECK(control_receive(ends[1], &got, fds) == -EMFILE);
		CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
		CHECK(got.kind == CONTROL_AUDIT_FILES);
		CHECK(fcntl(first_free, F_GETFD) < 0);
	}
	tear_down();
}

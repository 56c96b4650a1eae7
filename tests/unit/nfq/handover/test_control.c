/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a worker in other hands may send to the supervisor. */
#include "nfq/handover/control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/check.h"

static int ends[2];
static struct control_message got;

static int
receive_raw(const void *octets, size_t length)
{
	int fds[CONTROL_MAX_FDS];

	CHECK(send(ends[0], octets, length, 0) == (ssize_t)length);
	return control_receive(ends[1], &got, fds);
}

TEST(nonsense_is_refused)
{
	struct control_message wrong = { .kind = CONTROL_KINDS };
	char larger[sizeof(wrong) + 1] = { 0 };

	CHECK(receive_raw("x", 1) == -EPROTO);
	CHECK(receive_raw(&wrong, sizeof(wrong)) == -EPROTO);
	CHECK(receive_raw(larger, sizeof(larger)) == -EPROTO);
	wrong.kind = CONTROL_GENERATION;
	wrong.fd_count = 1;		/* says so, but has none */
	CHECK(receive_raw(&wrong, sizeof(wrong)) == -EPROTO);
	wrong.fd_count = 0;
	memset(wrong.text, 'x', sizeof(wrong.text));
	CHECK(receive_raw(&wrong, sizeof(wrong)) == 0);
	CHECK(strnlen(got.text, sizeof(got.text)) == CONTROL_TEXT - 1);
}

/* What was said is known, and none of the files stays open. */
TEST(no_descriptor_is_left_for_files)
{
	const struct control_message sent = { .kind = CONTROL_AUDIT_FILES };
	const int out[2] = { STDIN_FILENO, STDIN_FILENO };
	const int first_free = fcntl(STDIN_FILENO, F_DUPFD, 0);
	int fds[CONTROL_MAX_FDS];
	struct rlimit files, few;

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
}

int
main(void)
{
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) == 0);
	return test_run();
}

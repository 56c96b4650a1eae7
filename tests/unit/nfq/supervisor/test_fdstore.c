/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "nfq/supervisor/fdstore.h"

/* Descriptors 3 and 4, as a service manager leaves them. */
static void
hand_over(const char *pid, const char *count, const char *names)
{
	CHECK(dup2(STDIN_FILENO, 3) == 3);
	CHECK(dup2(STDIN_FILENO, 4) == 4);
	(void)setenv("LISTEN_PID", pid, 1);
	(void)setenv("LISTEN_FDS", count, 1);
	if (names != NULL)
		(void)setenv("LISTEN_FDNAMES", names, 1);
	else
		(void)unsetenv("LISTEN_FDNAMES");
}

static const char *
own_pid(void)
{
	static char text[24];

	(void)snprintf(text, sizeof(text), "%d", (int)getpid());
	return text;
}

TEST(names_lead_to_descriptors)
{
	struct fdstore fdstore;

	hand_over(own_pid(), "2", "rules:queue-5300");
	fdstore_open(&fdstore);
	CHECK(fdstore.count == 2);
	CHECK((fcntl(3, F_GETFD) & FD_CLOEXEC) != 0);
	CHECK(getenv("LISTEN_FDS") == NULL);
	CHECK(getenv("LISTEN_PID") == NULL);
	CHECK(fdstore_take(&fdstore, "queue-5300") == 4);
	CHECK(fdstore_take(&fdstore, "queue-5300") == -1);
	CHECK(fdstore_take(&fdstore, "rules") == 3);
	CHECK(fdstore.count == 0);
	fdstore_close(&fdstore);
}

TEST(what_nobody_takes_is_closed)
{
	struct fdstore fdstore;

	hand_over(own_pid(), "2", "rules:something");
	fdstore_open(&fdstore);
	CHECK(fdstore_take(&fdstore, "rules") == 3);
	fdstore_close(&fdstore);
	CHECK(fcntl(4, F_GETFD) < 0);
	CHECK(fcntl(3, F_GETFD) >= 0);
}

TEST(another_process_is_meant)
{
	struct fdstore fdstore;

	hand_over("1", "2", "rules:queue-5300");
	fdstore_open(&fdstore);
	CHECK(fdstore.count == 0);
	CHECK(getenv("LISTEN_FDS") == NULL);
}

TEST(nonsense_in_the_environment)
{
	static const char *const counts[] = { "", "-1", "2x", "x", "0",
		"99999999999999999999" };
	struct fdstore fdstore;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		hand_over(own_pid(), counts[i], "rules");
		fdstore_open(&fdstore);
		CHECK(fdstore.count == 0);
	}
	/* More than there are, and fewer names than descriptors. */
	hand_over(own_pid(), "60", NULL);
	fdstore_open(&fdstore);
	CHECK(fdstore.count >= 2);
	CHECK(fdstore_take(&fdstore, "rules") == -1);
	CHECK(fdstore_take(&fdstore, "") >= 3);
}

TEST(copies_go_to_the_manager)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char text[128] = "", path[64];
	struct iovec part = { .iov_base = text, .iov_len = sizeof(text) - 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control) };
	int manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	(void)snprintf(
	    path, sizeof(path), "/tmp/nfdns-fdstore-%d", (int)getpid());
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	(void)unlink(path);
	CHECK(bind(manager, (const struct sockaddr *)&address,
	    sizeof(address)) == 0);
	(void)setenv("NOTIFY_SOCKET", path, 1);
	CHECK(fdstore_is_there());
	CHECK(fdstore_keep(FDSTORE_RULES, STDIN_FILENO) == 0);
	CHECK(recvmsg(manager, &message, 0) > 0);
	CHECK(strcmp(text, "FDSTORE=1\nFDNAME=rules\nFDPOLL=0") == 0);
	CHECK(CMSG_FIRSTHDR(&message) != NULL);
	memset(text, 0, sizeof(text));
	fdstore_forget(FDSTORE_RULES);
	CHECK(recv(manager, text, sizeof(text) - 1, 0) > 0);
	CHECK(strcmp(text, "FDSTOREREMOVE=1\nFDNAME=rules") == 0);
	(void)unsetenv("NOTIFY_SOCKET");
	CHECK(!fdstore_is_there());
	CHECK(fdstore_keep(FDSTORE_RULES, STDIN_FILENO) == 0);
	(void)unlink(path);
	(void)close(manager);
}

TEST(queues_have_their_number_in_the_name)
{
	char name[FDSTORE_NAME];

	fdstore_queue_name(name, 65535);
	CHECK(strcmp(name, "queue-65535") == 0);
}

TEST(queues_that_are_left)
{
	struct fdstore fdstore;
	uint16_t number = 0;

	hand_over(own_pid(), "2", "rules:queue-5301");
	fdstore_open(&fdstore);
	CHECK(fdstore_take_queue(&fdstore, &number) == 4);
	CHECK(number == 5301);
	CHECK(fdstore_take_queue(&fdstore, &number) == -1);
	CHECK(fdstore_take(&fdstore, "rules") == 3);
}

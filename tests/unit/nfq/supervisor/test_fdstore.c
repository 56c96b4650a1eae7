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


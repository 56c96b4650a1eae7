/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "nfq/process/notify.h"

/* A manager's socket; its name as $NOTIFY_SOCKET has it is put into text. */
static int
manager_socket(bool abstract, char text[static 108])
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	size_t length;

	(void)snprintf(text, 108, "%s/tmp/nfdns-notify-%d",
	    abstract ? "@" : "", (int)getpid());
	length = strlen(text);
	memcpy(address.sun_path, text, length);
	if (abstract)
		address.sun_path[0] = '\0';
	else
		(void)unlink(text);
	CHECK(bind(fd, (const struct sockaddr *)&address,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) == 0);
	return fd;
}

static void
check_arrives(bool abstract)
{
	char path[108], got[64] = "";
	int fd = manager_socket(abstract, path);

	(void)setenv("NOTIFY_SOCKET", path, 1);
	CHECK(notify("READY=1\nSTATUS=fine") == 0);
	CHECK(recv(fd, got, sizeof(got) - 1, 0) == 19);
	CHECK(strcmp(got, "READY=1\nSTATUS=fine") == 0);
	(void)close(fd);
	if (!abstract)
		(void)unlink(path);
}

TEST(state_goes_to_a_path)
{
	check_arrives(false);
}

TEST(state_goes_to_an_abstract_name)
{
	check_arrives(true);
}

TEST(nobody_to_tell_is_no_error)
{
	(void)unsetenv("NOTIFY_SOCKET");
	CHECK(notify("READY=1") == 0);
	(void)setenv("NOTIFY_SOCKET", "", 1);
	CHECK(notify("READY=1") == 0);
}

TEST(bad_address_is_an_error)
{
	char lengthy[200];

	(void)setenv("NOTIFY_SOCKET", "relative", 1);
	CHECK(notify("READY=1") == -EINVAL);
	memset(lengthy, '/', sizeof(lengthy));
	lengthy[sizeof(lengthy) - 1] = '\0';
	(void)setenv("NOTIFY_SOCKET", lengthy, 1);
	CHECK(notify("READY=1") == -EINVAL);
	(void)setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
	CHECK(notify("READY=1") == -ENOENT);
}

TEST(reloading_says_when)
{
	char path[108], got[128] = "";
	struct timespec before;
	unsigned long long usec;
	int fd = manager_socket(true, path);
	char *number;

	(void)clock_gettime(CLOCK_MONOTONIC, &before);
	(void)setenv("NOTIFY_SOCKET", path, 1);
	CHECK(notify_reloading() == 0);
	CHECK(recv(fd, got, sizeof(got) - 1, 0) > 0);
	CHECK(strncmp(got, "RELOADING=1\nMONOTONIC_USEC=", 27) == 0);
	usec = strtoull(got + 27, &number, 10);
	CHECK(*number == '\0');
	CHECK(usec >= (unsigned long long)before.tv_sec * 1000000);
	CHECK(usec < (unsigned long long)before.tv_sec * 1000000 + 60000000);
	(void)close(fd);
}

TEST(watchdog_is_read)
{
	char pid[16];

	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
	CHECK(notify_watchdog_usec() == 0);
	(void)setenv("WATCHDOG_USEC", "30000000", 1);
	CHECK(notify_watchdog_usec() == 30000000);
	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	(void)setenv("WATCHDOG_PID", pid, 1);
	CHECK(notify_watchdog_usec() == 30000000);
	(void)setenv("WATCHDOG_PID", "1", 1);
	CHECK(notify_watchdog_usec() == 0);
	(void)unsetenv("WATCHDOG_PID");
	(void)setenv("WATCHDOG_USEC", "-5", 1);
	CHECK(notify_watchdog_usec() == 0);
	(void)setenv("WATCHDOG_USEC", "5s", 1);
	CHECK(notify_watchdog_usec() == 0);
}

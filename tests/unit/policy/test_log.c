/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"

static char written[8192];

/* Sends stderr into a pipe, calls, and puts what came out into written. */
static void
capture(void (*call)(void))
{
	int saved = dup(STDERR_FILENO), fds[2];
	ssize_t n;

	CHECK(pipe2(fds, O_CLOEXEC) == 0 && dup2(fds[1], STDERR_FILENO) >= 0);
	close(fds[1]);
	call();
	dup2(saved, STDERR_FILENO);
	close(saved);
	n = read(fds[0], written, sizeof(written) - 1);
	written[n > 0 ? n : 0] = '\0';
	close(fds[0]);
}

static void
write_all_levels(void)
{
	log_set_level(LOG_LEVEL_DEBUG);
	log_error("e %d", 1);
	log_warning("w");
	log_notice("n");
	log_info("i");
	log_debug("d");
}

TEST(levels_are_prefixes)
{
	capture(write_all_levels);
	CHECK(strcmp(written, "<3>e 1\n<4>w\n<5>n\n<6>i\n<7>d\n") == 0);
}

static void
write_at_warning(void)
{
	log_set_level(LOG_LEVEL_WARNING);
	log_error("e");
	log_warning("w");
	log_notice("n");
	log_set_level(LOG_LEVEL_INFO);
	log_debug("d");
}

TEST(lines_above_the_level_are_not_written)
{
	capture(write_at_warning);
	CHECK(strcmp(written, "<3>e\n<4>w\n") == 0);
}

static void
write_hostile(void)
{
	log_info("%s", "a\nb\x1b[2J\x7f\tc \xc3\xa4");
}

TEST(one_call_is_one_line)
{
	capture(write_hostile);
	CHECK(strcmp(written, "<6>a\\x0ab\\x1b[2J\\x7f\\x09c \xc3\xa4\n") == 0);
}

static char endless[5000];

static void
write_endless(void)
{
	log_info("%s", endless);
}

TEST(long_lines_are_cut_and_say_so)
{
	memset(endless, 'x', sizeof(endless) - 1);
	capture(write_endless);
	CHECK(strlen(written) > 900 && strlen(written) < 4096);
	CHECK(strcmp(written + strlen(written) - 5, "x...\n") == 0);
	CHECK(strchr(written, '\n') == written + strlen(written) - 1);
	/* Every octet escaped. */
	memset(endless, 1, sizeof(endless) - 1);
	capture(write_endless);
	CHECK(strlen(written) < 4096);
	CHECK(strcmp(written + strlen(written) - 5, "1...\n") == 0);
}

static void
write_with_errno(void)
{
	int closed = dup(STDERR_FILENO);

	errno = ENOTTY;
	log_info("x");
	CHECK(errno == ENOTTY);
	close(STDERR_FILENO);
	errno = ENOTTY;
	log_info("nowhere");
	CHECK(errno == ENOTTY);
	dup2(closed, STDERR_FILENO);
	close(closed);
}

TEST(errno_is_left_alone)
{
	capture(write_with_errno);
	CHECK(strcmp(written, "<6>x\n") == 0);
}

TEST(levels_have_names)
{
	enum log_level level;

	CHECK(log_level_from_text(&level, "error") == 0 &&
	    level == LOG_LEVEL_ERROR);
	CHECK(log_level_from_text(&level, "debug") == 0 &&
	    level == LOG_LEVEL_DEBUG);
	CHECK(log_level_from_text(&level, "Debug") == -EINVAL);
	CHECK(log_level_from_text(&level, "") == -EINVAL);
}

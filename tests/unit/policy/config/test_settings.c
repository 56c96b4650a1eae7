/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/settings.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "policy/log.h"
#include "tests/check.h"

static const struct config config = {
	.log_level = LOG_LEVEL_NOTICE,
	.answers = { .negative_ttl = 17, .udp_size = 600, .suppress_https = 1,
		.tcp = 1, .unloaded = UNLOADED_SERVFAIL,
		.unreadable = UNREADABLE_PASS },
	.stream = { .connections = 7, .per_client = 6, .idle_s = 11 },
};

TEST(settings_arrive_as_sent)
{
	struct settings sent, got = { .log_level = 0 };
	char text[SETTINGS_TEXT];
	int fd;

	settings_of(&sent, &config);
	forward_settings_defaults(&sent.forward);
	fd = settings_write(&sent);
	CHECK(fd >= 0 && settings_read(&got, fd) == NULL);
	CHECK(memcmp(&sent, &got, sizeof(sent)) == 0);
	/* The file stays good, for the next worker. */
	CHECK(settings_read(&got, fd) == NULL);
	CHECK(write(fd, "x", 1) < 0 && ftruncate(fd, 0) < 0);
	CHECK(strcmp(settings_text(&got, text), "log.level 5, "
	    "mesh.negative_ttl 17, mesh.udp_size 600, mesh.suppress_https 1, "
	    "mesh.unloaded 1, policy_unreadable 1, capture.tcp 1, "
	    "stream.connections 7, stream.per_client 6, stream.idle 11") == 0);
	close(fd);
}

/* A file of so many octets, and whether it can still be changed. */
static int
file_of(const void *octets, size_t length, bool sealed)
{
	int fd = memfd_create("test", MFD_ALLOW_SEALING);

	CHECK(fd >= 0 && write(fd, octets, length) == (ssize_t)length);
	CHECK(!sealed || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW |
	    F_SEAL_WRITE | F_SEAL_SEAL) == 0);
	return fd;
}

/* Whether it is refused for that reason, with nothing changed. */
static bool
is_refused(int fd, const char *why)
{
	struct settings got, before;
	const char *said;

	memset(&got, 0x55, sizeof(got));
	before = got;
	said = settings_read(&got, fd);
	close(fd);
	return said != NULL && strstr(said, why) != NULL &&
	    memcmp(&got, &before, sizeof(got)) == 0;
}

TEST(what_is_not_sound_changes_nothing)
{
	struct settings good, bad;
	char larger[sizeof(good) + 1] = { 0 };

	settings_of(&good, &config);
	forward_settings_defaults(&good.forward);
	memcpy(larger, &good, sizeof(good));
	CHECK(is_refused(file_of(&good, sizeof(good), false), "not sealed"));
	CHECK(is_refused(file_of(larger, sizeof(larger), true), "size"));
	CHECK(is_refused(file_of(&good, sizeof(good) - 1, true), "size"));
	CHECK(is_refused(file_of("", 0, true), "size"));
	CHECK(is_refused(open("/dev/null", O_RDONLY), "not sealed"));
	CHECK(settings_read(&bad, -1) != NULL);
}

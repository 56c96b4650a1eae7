/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cache over a restart: a file, and a machine that has booted since. */
#include "nfq/cache/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/cache/cache_memory.h"
#include "resolver/dns/message.h"
#include "tests/check.h"
#include "tests/image.h"

#define BOOT_AT		24	/* of the file: when it was written, by that clock */
#define UP_S		1000000	/* the machine had run for so long */

static char path[] = "/tmp/nfdns-cache-XXXXXX";
static struct forward_settings settings;
static const uint8_t message[] = "\0\0\0\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1";
static const struct dns_name name = { .length = 3, .labels = 1,
	.octets = "\1a" };
static const struct cache_key key = { .name = &name, .type = 1 };

/* A file with one answer, kept for a minute at that moment of the boot clock. */
static void
save(monotime_t at)
{
	const int fd = cache_memory_new(settings.cache.size);
	struct cache_memory m;

	MUST(fd >= 0 && cache_memory_open(&m, fd, settings.cache.size) == 0);
	cache_store(m.cache, at, &(struct cache_answer){ .key = key,
	    .kind = CACHE_POSITIVE, .ttl_s = 60,
	    .message = (const uint8_t *)message,
	    .length = sizeof(message) - 1 });
	cache_memory_close(&m);
	CHECK(cache_file_save(fd, &settings, path) == 0);
	close(fd);
}

/* Seconds that the answer in a loaded file is good for; -1: none is there. */
static int64_t
left_in(int fd)
{
	uint8_t found[CACHE_MESSAGE_MAX];
	const monotime_t now = monotime_boot();
	struct cache_memory m;
	struct cache_entry entry;
	int64_t left = -1;

	MUST(fd >= 0 && cache_memory_open(&m, fd, settings.cache.size) == 0);
	CHECK(cache_generation(m.cache) == 7);
	if (cache_find(m.cache, now, &key, 0, &entry, found))
		left = monotime_ms_since(entry.expires, now) / 1000;
	cache_memory_close(&m);
	/* Its times are moved but once. */
	MUST(cache_memory_open(&m, fd, settings.cache.size) == 0);
	if (left >= 0)
		CHECK(cache_find(m.cache, now, &key, 0, &entry, found));
	cache_memory_close(&m);
	close(fd);
	return left;
}

static void
it_grows_old_meanwhile(void)
{
	const int64_t up = (int64_t)UP_S * 1000;
	int64_t left, boot;
	struct stat st;
	int fd;

	save(monotime_add_ms(monotime_boot(), -20000));
	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	left = left_in(cache_file_load(path, &settings, 7));
	CHECK(left >= 30 && left <= 40);
	CHECK(cache_file_load(path, &settings, 7) == -ENOENT);
	/* As written by a machine whose boot clock had come much further. */
	save(monotime_add_ms(monotime_boot(), up - 20000));
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(pread(fd, &boot, sizeof(boot), BOOT_AT) == sizeof(boot));
	boot = monotime_add_ms((monotime_t){ boot }, up).ns;
	CHECK(pwrite(fd, &boot, sizeof(boot), BOOT_AT) == sizeof(boot));
	close(fd);
	left = left_in(cache_file_load(path, &settings, 7));
	CHECK(left >= 30 && left <= 40);
	save(monotime_add_ms(monotime_boot(), -61000));
	CHECK(left_in(cache_file_load(path, &settings, 7)) == -1);
}

static void
only_its_own_file_is_taken(void)
{
	struct forward_settings other = settings;
	uint8_t octet = 1;
	int fd;

	save(monotime_boot());
	other.cache.max_ttl_s--;
	CHECK(cache_file_load(path, &other, 7) == -ESTALE);
	save(monotime_boot());
	other.cache.size *= 2;
	CHECK(cache_file_load(path, &other, 7) == -ESTALE);
	save(monotime_boot());
	CHECK(chmod(path, 0620) == 0);
	CHECK(cache_file_load(path, &settings, 7) == -EPERM);
	/* Each octet of the header and of the memory's begin matters. */
	for (off_t at = 0; at < 128; at++) {
		save(monotime_boot());
		fd = open(path, O_RDWR | O_CLOEXEC);
		CHECK(pread(fd, &octet, 1, at) == 1);
		octet ^= 0x80;
		CHECK(pwrite(fd, &octet, 1, at) == 1);
		close(fd);
		fd = cache_file_load(path, &settings, 7);
		CHECK(fd < 0 || (at >= 16 && at < 32));
		if (fd >= 0)
			(void)left_in(fd);
	}
	CHECK(cache_file_load("/proc/self/nothing", &settings, 7) == -ENOENT);
	CHECK(cache_file_save(0, &settings, "/proc/self/nothing") < 0);
}

int
main(void)
{
	const int fd = mkstemp(path);

	MUST(fd >= 0);
	close(fd);
	forward_settings_defaults(&settings);
	settings.cache.size = 64;
	TEST(it_grows_old_meanwhile);
	TEST(only_its_own_file_is_taken);
	(void)unlink(path);
	return test_summary();
}

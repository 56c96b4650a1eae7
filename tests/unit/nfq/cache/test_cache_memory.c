/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory file of the cache: shared, kept, copied, and filled with garbage. */
#include "nfq/cache/cache_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resolver/dns/message.h"
#include "resolver/dns/rr.h"
#include "tests/check.h"
#include "tests/image.h"

#define ENTRIES	64

static const monotime_t now = { INT64_C(1000000000000) };

/* A question "n<number>.example" and, behind it, an octet that fills it up. */
static size_t
make_message(uint8_t *to, struct dns_name *name, unsigned int number,
    uint8_t fill, size_t length)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "n%u", number);

	memset(to, fill, length);
	memset(to, 0, DNS_HEADER);
	to[5] = 1;
	to[DNS_HEADER] = (uint8_t)n;
	memcpy(to + DNS_HEADER + 1, text, (size_t)n);
	memcpy(to + DNS_HEADER + 1 + n, "\7example", 9);
	MUST(name_read_lower(name, to + DNS_HEADER, length - DNS_HEADER) == 0);
	return length;
}

static void
store(struct cache *cache, unsigned int number, uint8_t fill, size_t length)
{
	uint8_t message[CACHE_MESSAGE_MAX];
	struct dns_name name;

	make_message(message, &name, number, fill, length);
	cache_store(cache, now, &(struct cache_answer){
	    .key = { .name = &name, .type = TYPE_A }, .kind = CACHE_POSITIVE,
	    .ttl_s = 60, .message = message, .length = length, .asked = now,
	    .generation = cache_generation(cache) });
}

/* The octet that fills an entry; -1: there is none; -2: it is torn. */
static int
filled_with(struct cache *cache, unsigned int number)
{
	uint8_t message[CACHE_MESSAGE_MAX], found[CACHE_MESSAGE_MAX];
	struct cache_entry entry;
	struct dns_name name;
	const struct cache_key key = { .name = &name, .type = TYPE_A };
	size_t from;

	make_message(message, &name, number, 0, 100);
	if (!cache_find(cache, now, &key, 0, &entry, found))
		return -1;
	from = DNS_HEADER + name.length;
	for (size_t i = from + 1; i < entry.length; i++)
		if (found[i] != found[from])
			return -2;
	return found[from];
}

TEST(a_next_worker_finds_it)
{
	const int fd = cache_memory_new(ENTRIES);
	struct cache_memory m, other;
	const pid_t pid = fork();
	int status;

	MUST(fd >= 0 && pid >= 0);
	if (pid == 0) {
		if (cache_memory_open(&m, fd, ENTRIES) < 0)
			_exit(1);
		store(m.cache, 1, 0x11, 700);
		store(m.cache, 2, 0x22, 70);
		cache_set_generation(m.cache, 9);
		(void)raise(SIGKILL);
	}
	MUST(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	MUST(cache_memory_open(&m, fd, ENTRIES) == 0);
	CHECK(filled_with(m.cache, 1) == 0x11);
	CHECK(filled_with(m.cache, 2) == 0x22);
	CHECK(filled_with(m.cache, 3) == -1);
	CHECK(cache_generation(m.cache) == 9);
	CHECK(cache_memory_is(&m, fd));
	MUST(cache_memory_copy(&other, fd) == 0);
	CHECK(filled_with(other.cache, 1) == 0x11);
	store(m.cache, 1, 0x33, 700);
	CHECK(filled_with(m.cache, 1) == 0x33);
	CHECK(filled_with(other.cache, 1) == 0x11);
	cache_memory_close(&other);
	cache_memory_close(&m);
	close(fd);
}

TEST(only_such_a_file_is_opened)
{
	const int fd = cache_memory_new(ENTRIES);
	const int plain = memfd_create("test", MFD_ALLOW_SEALING);
	struct cache_memory m;

	MUST(fd >= 0 && plain >= 0);
	CHECK(cache_memory_fits(fd, ENTRIES));
	CHECK(!cache_memory_fits(fd, ENTRIES + 1));
	CHECK(!cache_memory_fits(fd, 0));
	CHECK(!cache_memory_fits(fd, UINT32_MAX));
	CHECK(!cache_memory_fits(-1, ENTRIES));
	CHECK(cache_memory_open(&m, fd, ENTRIES + 1) == -EINVAL);
	MUST(ftruncate(plain, (off_t)cache_octets(ENTRIES)) == 0);
	CHECK(cache_memory_open(&m, plain, ENTRIES) == -EINVAL);
	CHECK(m.cache == NULL && m.octets == NULL);
	/* Nobody can take the memory away from whoever has mapped it. */
	CHECK(ftruncate(fd, 0) == -1 && errno == EPERM);
	CHECK(cache_memory_copy(&m, fd) == -EINVAL);	/* never opened */
	CHECK(cache_memory_copy(&m, plain) == -EINVAL);
	close(plain);
	close(fd);
}

/* The same entries are written from the other end. */
static void *
write_too(void *arg)
{
	for (unsigned int n = 0;; n--)
		store(arg, n % 40, (uint8_t)n, 100 + n * 41 % 2000);
	return NULL;
}

/* Writes until it is killed; says when something can be found. */
static void
write_for_ever(int fd, int begun)
{
	struct cache_memory m;
	pthread_t other;

	if (cache_memory_open(&m, fd, ENTRIES) < 0 ||
	    pthread_create(&other, NULL, write_too, m.cache) != 0)
		_exit(1);
	for (unsigned int n = 0;; n++) {
		store(m.cache, n % 40, (uint8_t)n, 100 + n * 37 % 2000);
		if (n == 40 && write(begun, "", 1) != 1)
			_exit(1);
	}
}

/*
 * Another process writes, is killed at any moment, and its successor goes on;
 * this one reads copies.
 */
TEST(nothing_is_torn)
{
	const int fd = cache_memory_new(ENTRIES);
	struct cache_memory m;
	unsigned int whole = 0;
	int status, begun[2];
	char octet;

	MUST(fd >= 0 && pipe(begun) == 0);
	MUST(cache_memory_open(&m, fd, ENTRIES) == 0);
	cache_memory_close(&m);
	for (unsigned int turn = 0; turn < 20 || (whole == 0 &&
	    turn < 2000); turn++) {
		const pid_t pid = fork();

		MUST(pid >= 0);
		if (pid == 0)
			write_for_ever(fd, begun[1]);
		MUST(read(begun[0], &octet, 1) == 1);
		for (unsigned int i = 0; i < 30; i++) {
			if (cache_memory_copy(&m, fd) < 0)
				continue;
			for (unsigned int n = 0; n < 40; n++) {
				const int got = filled_with(m.cache, n);

				CHECK(got != -2);
				whole += got >= 0;
			}
			cache_memory_close(&m);
		}
		MUST(kill(pid, SIGKILL) == 0);
		MUST(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	}
	CHECK(whole > 0);
	MUST(cache_memory_open(&m, fd, ENTRIES) == 0);
	for (unsigned int n = 0; n < 3 * ENTRIES; n++)
		store(m.cache, n, 0x44, 1500);
	CHECK(filled_with(m.cache, 3 * ENTRIES - 1) == 0x44);
	cache_memory_close(&m);
	close(begun[0]);
	close(begun[1]);
	close(fd);
}

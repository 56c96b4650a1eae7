/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the supervisor reads of a worker that may be hostile, and keeps. */
#include "nfq/handover/batch_window.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/supervisor/quarantine.h"
#include "tests/check.h"

static struct batch_window *window;
static struct window_queue *queue;
static struct window_packet seen;
static char dir[] = "/tmp/nfdns-poison-XXXXXX";

/* Packet n of the batch is handled; its octets are these. */
static void
show(unsigned int n, const uint8_t *octets, size_t length)
{
	queue->packets[n] = (struct queue_packet){ .id = 40 + n, .uid = 7,
		.octets = octets, .length = length };
	window_begin_packet(queue, n);
}

static void
the_packet_in_hand_is_seen(void)
{
	CHECK(!window_read(queue, &seen));
	for (unsigned int n = 0; n < QUEUE_BATCH; n++) {
		memset(queue->received[n], (int)n, sizeof(queue_buffer));
		show(n, queue->received[n] + 100, QUEUE_COPY);
		CHECK(window_read(queue, &seen));
		CHECK(seen.id == 40 + n && seen.uid == 7);
		CHECK(seen.length == QUEUE_COPY && seen.octets[0] == n &&
		    memcmp(seen.octets, seen.octets + 1, QUEUE_COPY - 1) == 0);
	}
	window_end_batch(queue);
	CHECK(!window_read(queue, &seen));
	show(3, queue->received[3], 5);
	window_clear(window, 2);
	CHECK(!window_read(queue, &seen));
}

/* An id costs nothing; octets are taken from the buffers or not at all. */
static void
a_hostile_worker_gains_nothing(void)
{
	const uint8_t *begin = queue->received[0];
	const uint8_t *end = begin + sizeof(queue->received);
	static const uint32_t places[] = { QUEUE_BATCH + 1, INT32_MAX,
		UINT32_MAX };
	struct { const uint8_t *octets; size_t length; } bad[] = {
		{ NULL, 10 }, { begin - 1, 10 }, { end, 1 }, { end - 9, 10 },
		{ begin, QUEUE_COPY + 1 }, { begin, SIZE_MAX },
		{ end - 1, SIZE_MAX }, { (const uint8_t *)UINTPTR_MAX, 2 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		show(0, bad[i].octets, bad[i].length);
		CHECK(window_read(queue, &seen) && seen.length == 0);
	}
	show(0, end - 10, 10);
	CHECK(window_read(queue, &seen) && seen.length == 10);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		atomic_store(&queue->current, places[i]);
		CHECK(!window_read(queue, &seen));
	}
}

/* Whose reply it was, for a probe's too, which has no packet. */
static void
the_nameserver_in_hand_is_seen(void)
{
	const struct window_source one = { .family = AF_INET, .port = 53,
		.address = { 192, 0, 2, 1 } };
	struct window_source found, other = one;

	CHECK(!window_read_source(queue, &found));
	window_begin_reply(queue, &one);
	CHECK(window_read_source(queue, &found) &&
	    memcmp(&found, &one, sizeof(one)) == 0);
	other.port = 54;
	CHECK(window_source_key(&found) == window_source_key(&one));
	CHECK(window_source_key(&other) != window_source_key(&one));
	window_end_reply(queue);
	CHECK(!window_read_source(queue, &found));
	other.family = 99;	/* a hostile worker's */
	window_begin_reply(queue, &other);
	CHECK(!window_read_source(queue, &found));
	window_begin_reply(queue, &one);
	window_clear(window, 2);
	CHECK(!window_read_source(queue, &found));
}

/* So that accusing it and asking it use the same key. */
static void
of_an_ipv4_address_four_octets_count(void)
{
	static const uint8_t a[16] = { 192, 0, 2, 1 };
	static const uint8_t b[16] = { 192, 0, 2, 1, 9, 9, 9, 9, 9, 9, 9, 9 };
	const struct window_source four[] = {
		window_source_of(AF_INET, 53, a), window_source_of(AF_INET, 53, b),
	}, six[] = {
		window_source_of(AF_INET6, 53, a), window_source_of(AF_INET6, 53, b),
	};

	CHECK(four[0].family == AF_INET && four[0].port == 53 &&
	    memcmp(four[0].address, a, sizeof(a)) == 0);
	CHECK(window_source_key(&four[0]) == window_source_key(&four[1]));
	CHECK(memcmp(six[1].address, b, sizeof(b)) == 0);
	CHECK(window_source_key(&six[0]) != window_source_key(&six[1]));
}

static int
count_files(bool remove)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int count = 0;
	DIR *d;

	(void)snprintf(path, sizeof(path), "%s/" QUARANTINE_DIR, dir);
	d = opendir(path);
	while (d != NULL && (entry = readdir(d)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		if (remove)
			(void)unlinkat(dirfd(d), entry->d_name, 0);
		count++;
	}
	if (d != NULL)
		closedir(d);
	return count;
}

static void
ten_packets_are_kept_for_one_user(void)
{
	char first[PATH_MAX] = "", path[PATH_MAX];
	struct quarantine_packet packet = { .queue = 5300,
		.octets = (const uint8_t *)"opaque", .length = 6 };
	struct stat st;

	for (uint32_t n = 0; n < 25; n++) {
		packet.id = n;
		packet.when.tv_sec = 1700000000 + (time_t)n;
		CHECK(quarantine_keep(dir, &packet, path) == 0);
		if (n == 0)
			memcpy(first, path, sizeof(first));
		CHECK(stat(path, &st) == 0 && st.st_size == 24 + 16 + 6 &&
		    (st.st_mode & 07777) == 0600);
		CHECK(count_files(false) == (n < 10 ? (int)n + 1 : 10));
	}
	CHECK(access(first, F_OK) < 0);
	CHECK(strstr(path, "/20231114T221344.000000000Z-queue5300-packet24.pcap")
	    != NULL);
	/* Nothing is written over, nor through somebody's link. */
	CHECK(quarantine_keep(dir, &packet, path) == -EEXIST);
	CHECK(count_files(true) == 9);
	CHECK(symlink("/dev/null", path) == 0);
	CHECK(quarantine_keep(dir, &packet, path) == -EEXIST);
	(void)count_files(true);
}

static void
what_is_in_the_way_is_said(void)
{
	struct quarantine_packet packet = { .queue = 1 };
	char path[PATH_MAX], name[PATH_MAX];
	int fd;

	CHECK(quarantine_keep("/nowhere/at/all", &packet, path) == -ENOENT);
	(void)snprintf(name, sizeof(name), "%s/" QUARANTINE_DIR, dir);
	CHECK(rmdir(name) == 0);
	fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && close(fd) == 0);
	CHECK(quarantine_keep(dir, &packet, path) == -ENOTDIR);
	CHECK(unlink(name) == 0);
}

int
main(void)
{
	if (mkdtemp(dir) == NULL || window_new(&window, 2) < 0)
		return 1;
	queue = &window->queues[1];
	TEST(the_packet_in_hand_is_seen);
	TEST(a_hostile_worker_gains_nothing);
	TEST(the_nameserver_in_hand_is_seen);
	TEST(of_an_ipv4_address_four_octets_count);
	TEST(ten_packets_are_kept_for_one_user);
	TEST(what_is_in_the_way_is_said);
	window_free(window, 2);
	(void)rmdir(dir);
	return test_summary();
}

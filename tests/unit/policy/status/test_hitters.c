/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What space-saving promises, and what a reader makes of any memory. */
#include "policy/status/hitters.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check.h"

#define SECOND		INT64_C(1000000000)
#define KEYS		20000
#define USER		1000

static uint64_t state = 88172645463325252ULL;

static uint32_t
any(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % below;
}

/* Key n about as often as 1/(n + 1): a uniform number of digits, then digits. */
static uint32_t
zipf(void)
{
	const uint32_t base = 1U << any(15);
	const uint32_t key = base - 1 + any(base);

	return key < KEYS ? key : any(KEYS);
}

static uint64_t truth[KEYS];

static void
ask(struct hitters *h, unsigned int slot, monotime_t now, const char *text,
    uid_t uid)
{
	struct question q = { .form = QUESTION_PLAIN };

	CHECK(name_from_text(&q.name, text, strlen(text)) == 0);
	hitters_question(hitters_begin(h->page, slot, now), h->page->secret, &q,
	    &(struct asker){ .uid = uid });
}

static bool
is_named(const struct hitter *hitter, const char *name)
{
	char text[NAME_TEXT_SIZE];

	return strcmp(name_to_text(hitter->name.octets, text), name) == 0;
}

static monotime_t
at(int64_t seconds)
{
	return (monotime_t){ (1000000 + seconds) * SECOND };
}

/* The daemon's file, and somebody who watches it. */
static void
open_both(struct hitters *h, struct hitters *seen)
{
	char path[64];

	CHECK(hitters_create(h, 3) == 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", h->fd);
	CHECK(hitters_watch(seen, open(path, O_RDONLY | O_CLOEXEC)) == 0);
	hitters_look(h, at(0));
}

TEST(nothing_is_counted_unless_somebody_watches)
{
	struct hitters h, seen;

	CHECK(hitters_create(&h, 1) == 0);
	hitters_look(&h, at(0));
	CHECK(hitters_begin(h.page, 0, at(1)) == NULL);
	hitters_close(&h);
	open_both(&h, &seen);
	CHECK(hitters_begin(h.page, 0, at(1)) != NULL);
	hitters_close(&seen);
	hitters_look(&h, at(2));
	CHECK(hitters_begin(h.page, 0, at(3)) == NULL);
	hitters_close(&h);
}

TEST(all_threads_and_both_windows_are_one_list)
{
	struct hitters_list list;
	struct hitters h, seen;

	open_both(&h, &seen);
	for (int i = 0; i < 3; i++)
		ask(&h, 0, at(9), "a.example", USER);
	ask(&h, 1, at(11), "a.example", USER);
	ask(&h, 1, at(11), "b.example", USER + 1);

	CHECK(hitters_list_read(&list, &seen, HITTERS_NAMES, at(12)) == 0);
	CHECK(list.count == 2 && list.total == 5);
	CHECK(list.covered_ns == 12 * SECOND);
	CHECK(is_named(&list.list[0], "a.example.") &&
	    list.list[0].count == 4);
	CHECK(is_named(&list.list[1], "b.example.") &&
	    list.list[1].count == 1);
	hitters_list_free(&list);

	CHECK(hitters_list_read(&list, &seen, HITTERS_USERS, at(12)) == 0);
	CHECK(list.count == 2 && list.list[0].uid == USER &&
	    list.list[0].count == 4);
	hitters_list_free(&list);

	/* The first window is over. */
	CHECK(hitters_list_read(&list, &seen, HITTERS_NAMES, at(21)) == 0);
	CHECK(list.total == 2 && list.covered_ns == 11 * SECOND);
	hitters_list_free(&list);
	CHECK(hitters_list_read(&list, &seen, HITTERS_NAMES, at(40)) == 0);
	CHECK(list.total == 0 && list.count == 0);
	hitters_list_free(&list);
	hitters_close(&seen);
	hitters_close(&h);
}

/* What was counted for who watched before is of another time. */
TEST(a_new_watch_begins_with_nothing)
{
	struct hitters_list list;
	struct hitters h, seen;
	char path[64];

	open_both(&h, &seen);
	ask(&h, 0, at(1), "a.example", USER);
	hitters_close(&seen);
	hitters_look(&h, at(2));
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", h.fd);
	CHECK(hitters_watch(&seen, open(path, O_RDONLY | O_CLOEXEC)) == 0);
	hitters_look(&h, at(3));
	CHECK(hitters_list_read(&list, &seen, HITTERS_NAMES, at(4)) == 0);
	CHECK(list.count == 0 && list.covered_ns == SECOND);
	hitters_list_free(&list);
	ask(&h, 0, at(4), "b.example", USER);
	CHECK(hitters_list_read(&list, &seen, HITTERS_NAMES, at(5)) == 0);
	CHECK(list.count == 1 && is_named(&list.list[0], "b.example."));
	hitters_list_free(&list);
	hitters_close(&seen);
	hitters_close(&h);
}

/* Nobody came less often than is said; and heavy ones stay, whoever invents names. */
TEST(a_flood_of_new_names_pushes_no_heavy_one_out)
{
	struct hitters_list list;
	struct hitters h, seen;
	unsigned int wrong = 0;

	open_both(&h, &seen);
	memset(truth, 0, sizeof(truth));
	for (int i = 0; i < 100000; i++) {
		const uint32_t key = i % 10 == 0 ? (uint32_t)i / 10 % 10 : zipf();
		char text[32];

		truth[key]++;
		(void)snprintf(text, sizeof(text), "n%u.example", key);
		ask(&h, any(3), at(5 + (i > 50000) * 10), text,
		    USER);
	}
	CHECK(hitters_list_read(&list, &seen, HITTERS_NAMES, at(16)) == 0);
	CHECK(list.total == 100000 && list.count > 10);
	for (size_t i = 0; i < list.count; i++) {
		char text[NAME_TEXT_SIZE];
		const unsigned long key = strtoul(name_to_text(
		    list.list[i].name.octets, text) + 1, NULL, 10);

		wrong += truth[key] < list.list[i].count;
		if (i < 10)
			wrong += key >= 10 ||
			    list.list[i].count < truth[key] * 9 / 10;
	}
	CHECK(wrong == 0);
	hitters_list_free(&list);
	hitters_close(&seen);
	hitters_close(&h);
}

#define FLOOD	500000

static void *
flood(void *argument)
{
	struct hitters *h = argument;
	char text[NAME_TEXT_SIZE];

	for (int i = 0; i < FLOOD; i++) {
		(void)snprintf(text, sizeof(text), "%0*d.%d.example",
		    1 + i % 60, i % 10, i % 10);
		ask(h, 0, at(1), text, USER);
	}
	return NULL;
}

/* A name that is read while others take its place is one of them, not a mixture. */
TEST(no_half_written_name_is_read)
{
	unsigned int wrong = 0, names = 0;
	struct hitters_list list;
	struct hitters h, seen;
	pthread_t writer;

	open_both(&h, &seen);
	CHECK(pthread_create(&writer, NULL, flood, &h) == 0);
	do {
		CHECK(hitters_list_read(&list, &seen, HITTERS_NAMES, at(1)) ==
		    0);
		for (size_t i = 0; i < list.count; i++, names++) {
			const struct dns_name *n = &list.list[i].name;
			const uint8_t first = n->octets[0];

			wrong += n->octets[first] != n->octets[first + 2] ||
			    n->length != first + 12U;
		}
		hitters_list_free(&list);
	} while (pthread_tryjoin_np(writer, NULL) != 0);
	CHECK(names > 0 && wrong == 0);
	hitters_close(&seen);
	hitters_close(&h);
}

/* As a worker that an attacker took over may leave it. */
TEST(any_memory_is_read)
{
	struct hitters h, seen;

	open_both(&h, &seen);
	for (int round = 0; round < 20; round++) {
		struct hitters_slot *slot = h.page->slot;
		uint8_t *octets = (uint8_t *)slot;
		struct hitters_list list;

		for (size_t i = 0; i < 3 * sizeof(*slot); i++)
			octets[i] = (uint8_t)any(round % 2 == 0 ? 256 : 4);
		for (size_t i = 0; i < 3; i++) {
			slot[i].banks[0].since = h.page->since;
			slot[i].banks[0].window = at(0).ns / (10 * SECOND);
		}
		for (int kind = 0; kind < HITTERS_KINDS; kind++) {
			CHECK(hitters_list_read(&list, &seen,
			    (enum hitters_kind)kind, at(1)) == 0);
			CHECK(list.count <= 6 * HITTERS_SETS * HITTERS_WAYS);
			for (size_t i = 0; i < list.count; i++)
				CHECK(list.list[i].count < UINT64_C(1) << 60);
			hitters_list_free(&list);
		}
	}
	hitters_close(&seen);
	hitters_close(&h);
}

TEST(other_files_are_refused)
{
	struct hitters h;

	CHECK(hitters_watch(&h, open("/dev/zero", O_RDONLY)) < 0);
	CHECK(hitters_watch(&h, open("/proc/self/exe", O_RDONLY)) < 0);
	CHECK(hitters_watch(&h, memfd_create("short", 0)) < 0);
	CHECK(h.page == NULL && h.fd == -1);
}

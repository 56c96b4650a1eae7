/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/metrics/peers.h"

#include "tests/check.h"

static struct peers peers;

static monotime_t
at(int64_t ms)
{
	return monotime_from_ms(1000 + ms);
}

static void
there_is_room_for_some(void)
{
	peers_init(&peers);
	for (int i = 0; i < PEERS_MAX; i++) {
		CHECK(peers_victim(&peers, PEERS_UNKNOWN) == NULL);
		CHECK(peers_add(&peers, 100 + i, PEERS_UNKNOWN, at(i)) != NULL);
	}
	CHECK(peers_add(&peers, 7, PEERS_UNKNOWN, at(99)) == NULL);
	CHECK(peers_victim(&peers, PEERS_UNKNOWN)->fd == 100);
	peers_remove(peers_victim(&peers, PEERS_UNKNOWN));
	CHECK(peers_victim(&peers, PEERS_UNKNOWN) == NULL);
}

static void
a_user_pays_for_himself(void)
{
	peers_init(&peers);
	CHECK(peers_add(&peers, 5, 1, at(0)) != NULL);
	for (int i = 0; i < PEERS_OF_USER; i++) {
		CHECK(peers_victim(&peers, 2) == NULL);
		CHECK(peers_add(&peers, 100 + i, 2, at(1 + i)) != NULL);
	}
	CHECK(peers_victim(&peers, 2)->fd == 100);
	CHECK(peers_victim(&peers, 1) == NULL);
	CHECK(peers_victim(&peers, 3) == NULL);
}

/* Users 10 to 13 have all places between them, 12 one more than the others. */
static void
who_has_most_pays_for_another(void)
{
	int fd = 100;

	peers_init(&peers);
	for (uid_t uid = 10; uid < 14; uid++)
		for (int i = 0; i < 15; i++, fd++)
			CHECK(peers_add(&peers, fd, uid, at(fd)) != NULL);
	CHECK(peers_add(&peers, 1, 12, at(500)) != NULL);
	for (int i = 0; i < 3; i++)
		CHECK(peers_add(&peers, 2 + i, 20, at(i)) != NULL);
	CHECK(peers_victim(&peers, 20)->fd == 130);
	CHECK(peers_victim(&peers, 12)->fd == 130);
}

static void
time_is_over_once(void)
{
	struct peer *peer;

	peers_init(&peers);
	CHECK(peers_wait(&peers, at(0), 1000) == 1000);
	CHECK(peers_add(&peers, 5, 1, at(0)) != NULL);
	CHECK(peers_add(&peers, 6, 1, at(50)) != NULL);
	CHECK(peers_wait(&peers, at(9500), 1000) == PEERS_LIFE_MS - 9500);
	CHECK(peers_overdue(&peers, at(PEERS_LIFE_MS - 1)) == NULL);
	peer = peers_overdue(&peers, at(PEERS_LIFE_MS));
	CHECK(peer != NULL && peer->fd == 5);
	CHECK(peers_overdue(&peers, at(PEERS_LIFE_MS)) == NULL);
	CHECK(peers_wait(&peers, at(PEERS_LIFE_MS), 1000) == 50);
	CHECK(peers_wait(&peers, at(PEERS_LIFE_MS + 99), 1000) == 0);
	/* Its place is another's afterwards. */
	peers_remove(peer);
	CHECK(peers_add(&peers, 7, 1, at(PEERS_LIFE_MS)) == peer);
	CHECK(!peer->told);
}

int
main(void)
{
	TEST(there_is_room_for_some);
	TEST(a_user_pays_for_himself);
	TEST(who_has_most_pays_for_another);
	TEST(time_is_over_once);
	return test_summary();
}

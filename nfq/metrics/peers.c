/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/metrics/peers.h"

void
peers_init(struct peers *peers)
{
	for (size_t i = 0; i < PEERS_MAX; i++)
		peers->list[i] = (struct peer){ .fd = -1 };
}

static size_t
count_of(const struct peers *peers, uid_t uid)
{
	size_t count = 0;

	for (size_t i = 0; i < PEERS_MAX; i++)
		count += peers->list[i].fd >= 0 && peers->list[i].uid == uid;
	return count;
}

/* Of two that are equally old, the one in the earlier place. */
static struct peer *
oldest_of(struct peers *peers, uid_t uid)
{
	struct peer *oldest = NULL;

	for (size_t i = 0; i < PEERS_MAX; i++) {
		struct peer *peer = &peers->list[i];

		if (peer->fd >= 0 && peer->uid == uid && (oldest == NULL ||
		    peer->since.ns < oldest->since.ns))
			oldest = peer;
	}
	return oldest;
}

struct peer *
peers_victim(struct peers *peers, uid_t uid)
{
	uid_t most = PEERS_UNKNOWN;
	size_t all = 0, of_most = 0;

	if (uid != PEERS_UNKNOWN && count_of(peers, uid) >= PEERS_OF_USER)
		return oldest_of(peers, uid);
	for (size_t i = 0; i < PEERS_MAX; i++) {
		size_t count;

		if (peers->list[i].fd < 0)
			continue;
		all++;
		count = count_of(peers, peers->list[i].uid);
		if (count > of_most) {
			of_most = count;
			most = peers->list[i].uid;
		}
	}
	return all < PEERS_MAX ? NULL : oldest_of(peers, most);
}

struct peer *
peers_add(struct peers *peers, int fd, uid_t uid, monotime_t now)
{
	for (size_t i = 0; i < PEERS_MAX; i++) {
		struct peer *peer = &peers->list[i];

		if (peer->fd >= 0)
			continue;
		*peer = (struct peer){ .fd = fd, .uid = uid, .since = now };
		return peer;
	}
	return NULL;
}

void
peers_remove(struct peer *peer)
{
	peer->fd = -1;
}

struct peer *
peers_overdue(struct peers *peers, monotime_t now)
{
	for (size_t i = 0; i < PEERS_MAX; i++) {
		struct peer *peer = &peers->list[i];

		if (peer->fd < 0 || peer->told ||
		    monotime_ms_since(now, peer->since) < PEERS_LIFE_MS)
			continue;
		peer->told = true;
		return peer;
	}
	return NULL;
}

int
peers_wait(const struct peers *peers, monotime_t now, int most)
{
	for (size_t i = 0; i < PEERS_MAX; i++) {
		const struct peer *peer = &peers->list[i];
		int64_t left;

		if (peer->fd < 0 || peer->told)
			continue;
		left = PEERS_LIFE_MS - monotime_ms_since(now, peer->since);
		if (left < most)
			most = left > 0 ? (int)left : 0;
	}
	return most;
}

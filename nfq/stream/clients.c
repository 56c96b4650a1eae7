/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clients are found by a hash table.  Those with n connections are in the n-th
 * of as many lists, so that who has most is known at any time, whatever there
 * are of them: a count only ever moves by one.
 */
#include "nfq/stream/clients.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <xxhash.h>

struct stream_clients {
	size_t mask;			/* hash heads, less one */
	uint64_t seed;			/* so that nobody can make long chains */
	struct stream_client **heads;
	struct stream_client **counts;	/* by connections */
	size_t most;			/* the last of these that is not empty */
	size_t limit;			/* connections */
};

static size_t
heads_for(size_t connections)
{
	size_t heads = 16;

	while (heads < connections)
		heads *= 2;
	return heads;
}

struct stream_clients *
stream_clients_new(size_t connections)
{
	struct stream_clients *c = calloc(1, sizeof(*c));
	const size_t heads = heads_for(connections);

	if (c == NULL)
		return NULL;
	c->mask = heads - 1;
	c->limit = connections;
	c->heads = calloc(heads, sizeof(struct stream_client *));
	c->counts = calloc(connections + 1, sizeof(struct stream_client *));
	if (getrandom(&c->seed, sizeof(c->seed), 0) !=
	    (ssize_t)sizeof(c->seed))
		c->seed = (uint64_t)(uintptr_t)c;
	if (c->heads != NULL && c->counts != NULL)
		return c;
	stream_clients_free(c);
	return NULL;
}

void
stream_clients_free(struct stream_clients *c)
{
	if (c == NULL)
		return;
	assert(c->most == 0);
	free(c->heads);
	free(c->counts);
	free(c);
}

/* Where the client is pointed to, or would be. */
static struct stream_client **
find(const struct stream_clients *c, const struct stream_client_key *key)
{
	struct stream_client **link = &c->heads[XXH3_64bits_withSeed(key,
	    sizeof(*key), c->seed) & c->mask];

	while (*link != NULL && memcmp(&(*link)->key, key, sizeof(*key)) != 0)
		link = &(*link)->same_hash;
	return link;
}

/* Moves all clients to a larger hash table, which is empty. */
static void
move_clients(struct stream_clients *c, struct stream_client **heads,
    size_t count)
{
	struct stream_client **old = c->heads;
	const size_t old_count = c->mask + 1;

	c->heads = heads;
	c->mask = count - 1;
	for (size_t i = 0; i < old_count; i++) {
		struct stream_client *client = old[i], *next;

		for (; client != NULL; client = next) {
			next = client->same_hash;
			client->same_hash = NULL;
			*find(c, &client->key) = client;
		}
	}
	free(old);
}

int
stream_clients_grow(struct stream_clients *c, size_t connections)
{
	struct stream_client **counts, **heads;
	const size_t count = heads_for(connections);

	if (connections <= c->limit)
		return 0;
	counts = reallocarray(c->counts, connections + 1,
	    sizeof(struct stream_client *));
	if (counts == NULL)
		return -ENOMEM;
	/* The larger array does no harm if the next step fails. */
	c->counts = counts;
	heads = calloc(count, sizeof(struct stream_client *));
	if (heads == NULL)
		return -ENOMEM;
	memset(counts + c->limit + 1, 0,
	    (connections - c->limit) * sizeof(struct stream_client *));
	c->limit = connections;
	move_clients(c, heads, count);
	return 0;
}

static void
leave_count(struct stream_clients *c, struct stream_client *client)
{
	if (client->prev != NULL)
		client->prev->next = client->next;
	else
		c->counts[client->connections] = client->next;
	if (client->next != NULL)
		client->next->prev = client->prev;
}

static void
enter_count(struct stream_clients *c, struct stream_client *client)
{
	struct stream_client **first = &c->counts[client->connections];

	client->prev = NULL;
	client->next = *first;
	if (*first != NULL)
		(*first)->prev = client;
	*first = client;
}

struct stream_client *
stream_clients_add(struct stream_clients *c,
    const struct stream_client_key *key)
{
	struct stream_client **link = find(c, key), *client = *link;

	if (client == NULL) {
		client = calloc(1, sizeof(*client));
		if (client == NULL)
			return NULL;
		client->key = *key;
		TAILQ_INIT(&client->list);
		*link = client;
	} else
		leave_count(c, client);
	client->connections++;
	assert(client->connections <= c->limit);
	enter_count(c, client);
	if (client->connections > c->most)
		c->most = client->connections;
	return client;
}

void
stream_clients_remove(struct stream_clients *c, struct stream_client *client)
{
	struct stream_client **link;

	leave_count(c, client);
	/* Its count was the largest, and nobody else has it. */
	if (c->counts[c->most] == NULL)
		c->most--;
	if (--client->connections > 0) {
		enter_count(c, client);
		return;
	}
	link = find(c, &client->key);
	*link = client->same_hash;
	free(client);
}

struct stream_client *
stream_clients_largest(const struct stream_clients *c)
{
	return c->most > 0 ? c->counts[c->most] : NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table finds a client.  The clients with n connections are also in the
 * n-th of as many lists.  A client's count changes by one at a time, so the
 * last list that is not empty is always known, however many clients there are.
 */
#include "nfq/stream/parts.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <xxhash.h>

LIST_HEAD(client_list, stream_client);

struct stream_clients {
	uint64_t seed;			/* so that nobody can make long chains */
	size_t mask;			/* lists by hash, less one */
	size_t limit;			/* connections */
	size_t most;			/* connections of the largest client */
	struct client_list *by_hash;
	struct client_list *by_count;	/* limit + 1 of them */
};

static size_t
hashes_for(size_t connections)
{
	size_t hashes = 16;

	while (hashes < connections)
		hashes *= 2;
	return hashes;
}

/* Empty lists for so many connections.  0, or -ENOMEM and nothing changed. */
static int
make_lists(struct stream_clients *c, size_t connections)
{
	const size_t hashes = hashes_for(connections);
	struct client_list *by_hash = calloc(hashes, sizeof(*by_hash));
	struct client_list *by_count =
	    calloc(connections + 1, sizeof(*by_count));

	if (by_hash == NULL || by_count == NULL) {
		free(by_hash);
		free(by_count);
		return -ENOMEM;
	}
	c->by_hash = by_hash;
	c->by_count = by_count;
	c->mask = hashes - 1;
	c->limit = connections;
	return 0;
}

struct stream_clients *
stream_clients_new(size_t connections)
{
	struct stream_clients *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	if (make_lists(c, connections) < 0) {
		free(c);
		return NULL;
	}
	if (getrandom(&c->seed, sizeof(c->seed), 0) !=
	    (ssize_t)sizeof(c->seed))
		c->seed = (uint64_t)(uintptr_t)c;
	return c;
}

void
stream_clients_free(struct stream_clients *c)
{
	if (c == NULL)
		return;
	assert(c->most == 0);
	free(c->by_hash);
	free(c->by_count);
	free(c);
}

/* The list that a client is in, if there is such a client. */
static struct client_list *
list_of(const struct stream_clients *c, const struct stream_client_key *key)
{
	return &c->by_hash[XXH3_64bits_withSeed(key, sizeof(*key), c->seed) &
	    c->mask];
}

int
stream_clients_grow(struct stream_clients *c, size_t connections)
{
	const struct stream_clients old = *c;
	struct stream_client *client;

	if (connections <= c->limit)
		return 0;
	if (make_lists(c, connections) < 0)
		return -ENOMEM;
	for (size_t n = 1; n <= old.most; n++) {
		while ((client = LIST_FIRST(&old.by_count[n])) != NULL) {
			LIST_REMOVE(client, same_count);
			LIST_REMOVE(client, same_hash);
			LIST_INSERT_HEAD(&c->by_count[n], client, same_count);
			LIST_INSERT_HEAD(list_of(c, &client->key), client,
			    same_hash);
		}
	}
	free(old.by_hash);
	free(old.by_count);
	return 0;
}

struct stream_client *
stream_clients_add(struct stream_clients *c,
    const struct stream_client_key *key)
{
	struct stream_client *client;

	LIST_FOREACH(client, list_of(c, key), same_hash)
		if (memcmp(&client->key, key, sizeof(*key)) == 0)
			break;
	if (client == NULL) {
		client = calloc(1, sizeof(*client));
		if (client == NULL)
			return NULL;
		client->key = *key;
		TAILQ_INIT(&client->list);
		LIST_INSERT_HEAD(list_of(c, key), client, same_hash);
	} else
		LIST_REMOVE(client, same_count);
	client->connections++;
	assert(client->connections <= c->limit);
	LIST_INSERT_HEAD(&c->by_count[client->connections], client, same_count);
	if (client->connections > c->most)
		c->most = client->connections;
	return client;
}

void
stream_clients_remove(struct stream_clients *c, struct stream_client *client)
{
	LIST_REMOVE(client, same_count);
	/* Its count was the largest, and no other client has it. */
	if (LIST_EMPTY(&c->by_count[c->most]))
		c->most--;
	if (--client->connections > 0) {
		LIST_INSERT_HEAD(&c->by_count[client->connections], client,
		    same_count);
		return;
	}
	LIST_REMOVE(client, same_hash);
	free(client);
}

struct stream_client *
stream_clients_largest(const struct stream_clients *c)
{
	return c->most > 0 ? LIST_FIRST(&c->by_count[c->most]) : NULL;
}

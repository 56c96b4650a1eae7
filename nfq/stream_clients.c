/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open addressing, never more than half full.  An address without connections
 * leaves no gap: what stands behind it in its run moves up.
 */
#include "nfq/stream_clients.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <xxhash.h>

struct client {
	struct stream_address address;
	unsigned int connections;	/* 0: the place is free */
};

struct stream_clients {
	size_t mask;			/* places, less one */
	uint64_t seed;			/* so that nobody can make long runs */
	struct client places[];
};

struct stream_clients *
stream_clients_new(size_t connections)
{
	struct stream_clients *c;
	size_t places = 16;

	while (places < 2 * connections)
		places *= 2;
	c = calloc(1, sizeof(*c) + places * sizeof(c->places[0]));
	if (c == NULL)
		return NULL;
	c->mask = places - 1;
	if (getrandom(&c->seed, sizeof(c->seed), 0) !=
	    (ssize_t)sizeof(c->seed))
		c->seed = (uint64_t)(uintptr_t)c;
	return c;
}

void
stream_clients_free(struct stream_clients *c)
{
	free(c);
}

static size_t
home(const struct stream_clients *c, const struct stream_address *address)
{
	return (size_t)XXH3_64bits_withSeed(address, sizeof(*address),
	    c->seed) & c->mask;
}

/* Where the address is, or the free place where it would be. */
static size_t
find(const struct stream_clients *c, const struct stream_address *address)
{
	size_t i = home(c, address);

	while (c->places[i].connections > 0 && memcmp(
	    &c->places[i].address, address, sizeof(*address)) != 0)
		i = (i + 1) & c->mask;
	return i;
}

unsigned int
stream_clients_add(struct stream_clients *c,
    const struct stream_address *address)
{
	struct client *client = &c->places[find(c, address)];

	client->address = *address;
	return ++client->connections;
}

unsigned int
stream_clients_remove(struct stream_clients *c,
    const struct stream_address *address)
{
	size_t hole = find(c, address), i = hole;

	assert(c->places[hole].connections > 0);
	if (--c->places[hole].connections > 0)
		return c->places[hole].connections;
	for (;;) {
		size_t from;

		i = (i + 1) & c->mask;
		if (c->places[i].connections == 0)
			return 0;
		/* May move up if its home is not between the hole and it. */
		from = home(c, &c->places[i].address);
		if (((i - from) & c->mask) < ((i - hole) & c->mask))
			continue;
		c->places[hole] = c->places[i];
		c->places[i].connections = 0;
		hole = i;
	}
}

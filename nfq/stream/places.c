/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places for connections.  The settings limit all connections, those of one
 * client, and raw ones.  When all places are taken, the client with the most
 * connections loses one to the new connection: an idle one if it has any; else
 * one that is in use, if the new connection's client has fewer.  So a client
 * that takes all the places it can get keeps nobody out.
 */
#include "nfq/stream/parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/handover/senders.h"

#define LOOK_FOR_IDLE	64	/* connections, when a place is needed */

void
stream_touch(struct stream *s, struct stream_connection *c)
{
	TAILQ_REMOVE(&s->all, c, in_all);
	TAILQ_INSERT_TAIL(&s->all, c, in_all);
	TAILQ_REMOVE(&c->of->list, c, in_client);
	TAILQ_INSERT_TAIL(&c->of->list, c, in_client);
}

void
stream_mark_closed(struct stream *s, struct stream_connection *c)
{
	c->closed = true;
	stream_ask_forget(s, c);
	TAILQ_REMOVE(&s->all, c, in_all);
	TAILQ_REMOVE(&c->of->list, c, in_client);
	if (monotime_is_set(c->raw_since)) {
		TAILQ_REMOVE(&s->raws, c, in_raws);
		c->of->raw--;
		s->raw_count--;
	}
	stream_clients_remove(s->clients, c->of);
	c->of = NULL;
	s->count--;
	TAILQ_INSERT_TAIL(&s->dead, c, in_all);
}

void
stream_free_closed(struct stream *s)
{
	struct stream_connection *c;

	while ((c = TAILQ_FIRST(&s->dead)) != NULL) {
		TAILQ_REMOVE(&s->dead, c, in_all);
		stream_close_end(s, &c->client);
		stream_close_end(s, &c->server);
		stream_relay_free(c);
		stream_buffer_clear(&c->in);
		stream_buffer_clear(&c->out);
		free(c);
	}
}

/* The client's connection that is idle longest, of the first ones; or NULL. */
static struct stream_connection *
find_idle_of(const struct stream_client *client)
{
	struct stream_connection *c;
	int left = LOOK_FOR_IDLE;

	TAILQ_FOREACH(c, &client->list, in_client)
		if (left-- == 0 || stream_is_idle(c))
			break;
	return c != NULL && stream_is_idle(c) ? c : NULL;
}

/* The same of all clients. */
static struct stream_connection *
find_idle(const struct stream *s)
{
	struct stream_connection *c;
	int left = LOOK_FOR_IDLE;

	TAILQ_FOREACH(c, &s->all, in_all)
		if (left-- == 0 || stream_is_idle(c))
			break;
	return c != NULL && stream_is_idle(c) ? c : NULL;
}

/* The connection to close for a client that has "has" connections; or NULL. */
static struct stream_connection *
find_victim(const struct stream *s, unsigned int has)
{
	const struct stream_client *most = stream_clients_largest(s->clients);
	struct stream_connection *c;

	if (most == NULL)
		return NULL;
	c = find_idle_of(most);
	if (c == NULL && most->connections > has)
		c = TAILQ_FIRST(&most->list);
	return c != NULL ? c : find_idle(s);
}

static bool
evict(struct stream *s, struct stream_connection *c)
{
	if (c == NULL)
		return false;
	stream_count(s, STREAM_EVICTED);
	stream_mark_closed(s, c);
	return true;
}

bool
stream_evict(struct stream *s)
{
	/* Only idle connections: there is no client to close a busy one for. */
	return evict(s, find_victim(s, s->count));
}

bool
stream_evict_idle(struct stream *s)
{
	return evict(s, find_idle(s));
}

/* What the queue knew of the connection's first packet. */
static struct sender
sender_of(struct stream *s, const struct stream_arrival *arrival)
{
	struct sender_ends ends;
	uint16_t port;

	if (s->senders == NULL)
		return SENDER_UNKNOWN;
	memset(&ends, 0, sizeof(ends));
	(void)sockets_address_split(&arrival->name, ends.server, &port);
	(void)sockets_address_split(&arrival->peer, ends.client,
	    &ends.client_port);
	return senders_take(s->senders, &ends);
}

static struct stream_client_key
client_of(const struct sender *sender, const struct stream_arrival *arrival)
{
	struct stream_client_key key = { .uid = sender->uid };
	uint8_t address[16];
	uint16_t port;
	size_t length;

	if (key.uid != (uid_t)-1)
		return key;
	length = sockets_address_split(&arrival->peer, address, &port);
	/* IPv4 as ::ffff:0:0/96 (RFC 4291 section 2.5.5.2). */
	if (length == 4)
		memset(key.address + 10, 0xff, 2);
	memcpy(key.address + 16 - length, address, length);
	return key;
}

/* Whether the client, whose new connection is counted already, has a place. */
static bool
admit(struct stream *s, const struct stream_client *client)
{
	const struct stream_settings *limits = &s->limits;

	if (client->connections > limits->per_client) {
		stream_count(s, STREAM_OVER_CLIENT);
		return false;
	}
	if (s->count < limits->connections ||
	    evict(s, find_victim(s, client->connections)))
		return true;
	stream_count(s, STREAM_OVER_ALL);
	return false;
}

struct stream_connection *
stream_welcome(struct stream *s, const struct stream_arrival *arrival)
{
	const struct sender sender = sender_of(s, arrival);
	const struct stream_client_key key = client_of(&sender, arrival);
	struct stream_connection *c = calloc(1, sizeof(*c));

	if (c != NULL)
		c->of = stream_clients_add(s->clients, &key);
	if (c == NULL || c->of == NULL || !admit(s, c->of)) {
		if (c != NULL && c->of != NULL)
			stream_clients_remove(s->clients, c->of);
		(void)close(arrival->fd);
		free(c);
		return NULL;
	}
	c->peer = arrival->peer;
	c->name = arrival->name;
	LIST_INIT(&c->questions);
	c->sender = sender;
	c->client = (struct stream_end){ ROLE_CLIENT, arrival->fd, 0, c };
	c->server = (struct stream_end){ ROLE_SERVER, -1, 0, c };
	c->active = s->thread.now;
	TAILQ_INSERT_TAIL(&s->all, c, in_all);
	TAILQ_INSERT_TAIL(&c->of->list, c, in_client);
	s->count++;
	stream_count(s, STREAM_ACCEPTED);
	return c;
}

/* The oldest raw one of the client with most of them. */
static struct stream_connection *
oldest_raw(const struct stream *s)
{
	struct stream_connection *c, *found = TAILQ_FIRST(&s->raws);

	TAILQ_FOREACH(c, &s->raws, in_raws)
		if (c->of->raw > found->of->raw)
			found = c;
	return found;
}

bool
stream_admit_raw(struct stream *s, struct stream_connection *c)
{
	if (s->raw_count >= STREAM_RAW_MAX) {
		struct stream_connection *old = oldest_raw(s);

		stream_count(s, STREAM_OVER_RAW);
		if (old == NULL || old->of->raw <= c->of->raw + 1)
			return false;
		stream_mark_closed(s, old);
	}
	c->raw_since = s->thread.now;
	TAILQ_INSERT_TAIL(&s->raws, c, in_raws);
	c->of->raw++;
	s->raw_count++;
	return true;
}

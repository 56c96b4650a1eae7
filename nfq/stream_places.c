/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_FOR_IDLE	64	/* connections, when a place is needed */

/* At the list's end, where the newest activity is. */
static void
list_append(struct stream *s, struct stream_connection *c)
{
	c->next = NULL;
	c->prev = s->last;
	if (s->last != NULL)
		s->last->next = c;
	else
		s->first = c;
	s->last = c;
}

static void
list_remove(struct stream *s, struct stream_connection *c)
{
	if (c->prev != NULL)
		c->prev->next = c->next;
	else
		s->first = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	else
		s->last = c->prev;
}

void
stream_touch(struct stream *s, struct stream_connection *c)
{
	list_remove(s, c);
	list_append(s, c);
}

void
stream_mark_closed(struct stream *s, struct stream_connection *c)
{
	c->closed = true;
	stream_opener_forget(s, c);
	list_remove(s, c);
	(void)stream_clients_remove(s->clients, &c->address);
	s->count--;
	c->next = s->dead;
	s->dead = c;
}

void
stream_bury(struct stream *s)
{
	while (s->dead != NULL) {
		struct stream_connection *c = s->dead;

		s->dead = c->next;
		stream_close_end(s, &c->client);
		stream_close_end(s, &c->server);
		stream_relay_free(c);
		stream_buffer_clear(&c->in);
		stream_buffer_clear(&c->out);
		free(c);
	}
}

bool
stream_evict(struct stream *s)
{
	struct stream_connection *c = s->first;

	for (int i = 0; c != NULL && i < LOOK_FOR_IDLE; i++, c = c->next) {
		if (!stream_is_idle(c))
			continue;
		stream_count(s, STREAM_EVICTED);
		stream_mark_closed(s, c);
		return true;
	}
	return false;
}

static struct stream_address
counted_address(const union stream_name *name)
{
	struct stream_address address = { { 0 } };
	uint8_t octets[16];
	uint16_t port;
	size_t length = stream_address_of(name, octets, &port);

	if (length == 4)
		memset(address.octets + 10, 0xff, 2);
	memcpy(address.octets + 16 - length, octets, length);
	return address;
}

/* Whether there is a place for a connection; counts it under its address. */
static bool
admit(struct stream *s, const struct stream_address *address)
{
	const struct config_stream *limits = &s->config->stream;

	if (stream_clients_add(s->clients, address) > limits->per_client) {
		stream_count(s, STREAM_OVER_CLIENT);
	} else if (s->count >= limits->connections && !stream_evict(s)) {
		stream_count(s, STREAM_OVER_ALL);
	} else
		return true;
	(void)stream_clients_remove(s->clients, address);
	return false;
}

struct stream_connection *
stream_welcome(struct stream *s, const struct stream_arrival *arrival)
{
	struct stream_connection *c = calloc(1, sizeof(*c));

	if (c != NULL)
		c->address = counted_address(&arrival->peer);
	if (c == NULL || !admit(s, &c->address)) {
		(void)close(arrival->fd);
		free(c);
		return NULL;
	}
	c->peer = arrival->peer;
	c->name = arrival->name;
	c->client = (struct stream_end){ ROLE_CLIENT, arrival->fd, 0, c };
	c->server = (struct stream_end){ ROLE_SERVER, -1, 0, c };
	c->active_ms = s->now_ms;
	list_append(s, c);
	s->count++;
	stream_count(s, STREAM_ACCEPTED);
	return c;
}

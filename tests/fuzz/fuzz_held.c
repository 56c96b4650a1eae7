/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journey of a question that is forwarded: any octets as its packet, which is
 * held, and any as the upstream's reply, behind the packet's own length.  The
 * packet that comes out, from the reply and then from the cache, is a sound answer
 * to the one that went in.
 */
#include <string.h>

#include "nfq/worker/worker.h"
#include "nfq/held/held.h"
#include "resolver/dns/message.h"
#include "resolver/dns/wire.h"
#include "tests/fuzz/packet_and_reply.h"
#include "tests/packets.h"

#define ENTRIES	16

static struct {
	struct interception in;
	struct held_table held;
	bool waits;
	uint32_t attempt;
	uint16_t id;
	uint8_t out[INTERCEPT_REPLY_MAX + 65535];
} t;

static int
host_send(void *arg, uint32_t attempt, const struct forward_upstream *to,
    enum forward_transport transport, const uint8_t *octets, size_t length)
{
	(void)arg, (void)to, (void)transport;
	check(length >= DNS_HEADER);
	t.attempt = attempt;
	t.id = wire_load_u16(octets);
	return 0;
}

/* As holder.c: turns the held packet round. */
static void
host_answer(void *arg, struct engine_client *client, const uint8_t *octets,
    size_t length)
{
	struct held *h = held_of(client);
	const struct packet *packet = &h->held.packet;
	const size_t before = packet_reply_offset(packet);

	(void)arg;
	check(t.waits && before + length <= sizeof(t.out));
	memcpy(t.out + before, octets, length);
	check(packet_reply(packet, t.out, length) == before + length);
	check(length >= DNS_HEADER &&
	    wire_load_u16(octets) == client->question.id &&
	    (octets[2] & 0x80) != 0);
	held_give(&t.held, h);
	t.waits = false;
}

static void
host_give_back(void *arg, struct engine_client *client)
{
	(void)arg;
	check(t.waits);
	held_give(&t.held, held_of(client));
	t.waits = false;
}

static void
make_settings(struct forward_settings *s)
{
	one_upstream(s);
	s->domain[0].cache = 1;
	s->domain[0].negative_max_s = 60;
	s->limits.held = 4;
	s->cache.size = ENTRIES;
}

/* False: it is not forwarded. */
static bool
intercept_it(const struct answer_source *source,
    const struct forward_settings *settings, const uint8_t *packet,
    size_t length)
{
	struct reply_room room;

	memset(&t.in, 0xa5, sizeof(t.in));
	t.in.policy = NULL;
	t.in.unanswerable = t.in.unowned = false;
	t.in.asker = (struct asker){ .now = monotime_from_ms(1) };
	t.in.forward = settings;
	t.in.forward_full = false;
	intercept_parse(&t.in, packet, length, length);
	room = reply_room_of_packet(t.out);
	intercept_answer(&t.in, source, 0, room);
	return t.in.form == PACKET_OK &&
	    t.in.decision.verdict == VERDICT_FORWARD;
}

static void
forward_it(struct engine *engine, monotime_t now, const uint8_t *packet,
    size_t length, const uint8_t *reply, size_t reply_length)
{
	const struct queue_packet p = { .octets = packet, .length = length };
	struct held *h = held_take(&t.held, length);
	uint8_t *copy;

	if (h == NULL)
		return;
	held_packet_keep(&h->held, &p, &t.in, 0, h->octets);
	h->client = (struct engine_client){ .message = h->held.packet.payload,
		.length = h->held.packet.payload_length,
		.question = t.in.question };
	t.waits = true;
	engine_ask(engine, now, &h->client);
	copy = reply_with_id(reply, reply_length, t.id);
	engine_reply(engine, now, t.attempt, copy, reply_length);
	free(copy);
	for (int i = 0; i < 9 && t.waits; i++)
		engine_tick(engine, monotime_add_ms(now, 1000 * i));
	check(!t.waits && t.held.count == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct engine_host host = { .send = host_send,
		.close = host_close, .answer = host_answer,
		.pass = host_give_back, .drop = host_give_back,
		.random = host_random, .wall = host_wall };
	static struct forward_settings settings;
	static uint8_t secret[CACHE_SECRET];
	static struct table *table;
	struct answer_source source;
	const size_t end = packet_end(data, size);
	const monotime_t now = monotime_boot();
	void *memory = calloc(1, cache_octets(ENTRIES));
	struct cache *cache = cache_open(memory, ENTRIES, secret);
	struct engine *engine;

	if (table == NULL)
		table = sample_table(false);
	source = sample_source(table);
	make_settings(&settings);
	engine = engine_new(&host, &settings, cache, NULL, now);
	check(cache != NULL && engine != NULL &&
	    held_open(&t.held, settings.limits.held) == 0);
	if (intercept_it(&source, &settings, data, end)) {
		forward_it(engine, now, data, end, data + end, size - end);
		if (intercept_it(&source, &settings, data, end)) {
			bool absent;
			int domain = cached_reply(&t.in, &source, cache,
			    t.out, &absent);

			check(domain < 0 ||
			    interception_fault(&t.in, data, t.out) == NULL);
		}
	}
	engine_free(engine);
	held_close(&t.held);
	cache_close(cache);
	free(memory);
	return 0;
}

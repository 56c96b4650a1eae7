/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An engine whose host is a test: clients that remember what became of them, messages
 * that are not sent, and a clock that the test sets.
 */
#ifndef NFDNS_TESTS_ENGINE_H
#define NFDNS_TESTS_ENGINE_H

#include "nfq/ask/engine.h"
#include "nfq/ask/message.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"
#include "tests/check.h"

#define CLIENTS 32
#define SENT 256
#define NOBODY	UINT32_MAX

static struct {
	struct forward_settings settings;
	struct engine *engine;
	struct cache *cache;
	struct upstreams *shared;	/* NULL: nobody else asks */
	void *memory;
	monotime_t now;
	uint8_t random, step;
	struct engine_client clients[CLIENTS];
	struct engine_end ends[CLIENTS];
	uint8_t messages[CLIENTS][128];
	enum { ASKED, ANSWERED, PASSED, DROPPED } fate[CLIENTS];
	uint8_t answer[4096];
	size_t answer_length;
	struct {
		bool open;
		enum forward_transport transport;
		uint32_t port;
		uint8_t octets[MESSAGE_ASK_MAX];
		size_t length;
	} sent[SENT];
	uint32_t last, sends;
	int send_error;			/* negative; 0: sends go out */
	uint32_t unsent;
} t;

static inline int
host_send(void *arg, uint32_t attempt, const struct forward_upstream *to,
    enum forward_transport transport, const uint8_t *octets, size_t length)
{
	(void)arg;
	CHECK(attempt < SENT && !t.sent[attempt].open);
	if (t.send_error != 0) {
		t.unsent++;
		return t.send_error;
	}
	t.sent[attempt].open = true;
	t.sent[attempt].transport = transport;
	t.sent[attempt].port = to->port;
	memcpy(t.sent[attempt].octets, octets, length);
	t.sent[attempt].length = length;
	t.last = attempt;
	t.sends++;
	return 0;
}

static inline void
host_close(void *arg, uint32_t attempt)
{
	(void)arg;
	CHECK(t.sent[attempt].open);
	t.sent[attempt].open = false;
}

static inline void
host_answer(void *arg, struct engine_client *client, const uint8_t *octets,
    size_t length)
{
	(void)arg;
	CHECK(t.fate[client - t.clients] == ASKED);
	t.fate[client - t.clients] = ANSWERED;
	t.answer_length = length < sizeof(t.answer) ? length :
	    sizeof(t.answer);
	memcpy(t.answer, octets, t.answer_length);
}

static inline void
host_pass(void *arg, struct engine_client *client)
{
	(void)arg;
	t.fate[client - t.clients] = PASSED;
}

static inline void
host_drop(void *arg, struct engine_client *client)
{
	(void)arg;
	t.fate[client - t.clients] = DROPPED;
}

static inline void
host_random(void *arg, void *octets, size_t length)
{
	(void)arg;
	for (size_t i = 0; i < length; i++)
		((uint8_t *)octets)[i] = (uint8_t)(t.random += t.step);
}

static inline uint32_t
host_wall(void *arg)
{
	(void)arg;
	return 0;
}

static const struct engine_host host = { .send = host_send,
	.close = host_close, .answer = host_answer, .pass = host_pass,
	.drop = host_drop, .random = host_random, .wall = host_wall };

/* Two servers, ports 1 and 2, for all names. */
static inline void
prepare(void)
{
	memset(&t, 0, sizeof(t));
	t.now = monotime_from_ms(1000);
	t.step = 37;
	forward_settings_defaults(&t.settings);
	t.settings.health.loops = 0;
	t.settings.upstreams = 2;
	t.settings.domains = 1;
	for (uint32_t i = 0; i < 2; i++)
		t.settings.upstream[i] = (struct forward_upstream){
			.family = AF_INET, .port = i + 1 };
	t.settings.domain[0] = (struct forward_domain){ .upstreams = 2,
		.upstream = { 0, 1 }, .select = SELECT_ORDERED, .cache = 1,
		.negative_max_s = 30 };
	t.settings.cache.size = 64;
	t.settings.limits.held = 16;
}

static inline void
start(void)
{
	static const uint8_t secret[CACHE_SECRET];

	t.memory = calloc(1, cache_octets(64));
	t.cache = cache_open(t.memory, 64, secret);
	forward_settings_place(&t.settings, NULL);
	if (t.shared != NULL)
		upstreams_enter(t.shared, t.now, &t.settings, NULL);
	t.engine = engine_new(&host, &t.settings, t.cache, t.shared,
	    t.now);
	CHECK(t.engine != NULL);
}

static inline void
finish(void)
{
	engine_free(t.engine);
	for (int i = 0; i < SENT; i++)
		CHECK(!t.sent[i].open);
	cache_close(t.cache);
	free(t.memory);
}

/* Client n, who asks for NAME.test A. */
static inline struct engine_client *
client_of(int n, char name, uint32_t uid, const struct chase *chase)
{
	static const char head[] = "\1\1\1\0\0\1\0\0\0\0\0\0\1x\4test\0\0\1\0\1";
	struct engine_client *client = &t.clients[n];

	memcpy(t.messages[n], head, sizeof(head) - 1);
	t.messages[n][1] = (uint8_t)n;
	t.messages[n][13] = (uint8_t)name;
	*client = (struct engine_client){ .message = t.messages[n],
		.length = sizeof(head) - 1, .uid = uid, .chase = chase,
		.end = &t.ends[n],
		.nameserver = { .family = AF_INET, .port = 53 } };
	t.fate[n] = ASKED;
	return client;
}

static inline void
ask_client(struct engine_client *client)
{
	question_parse(&client->question, client->message, client->length);
	engine_ask(t.engine, t.now, client);
}

static inline void
ask_with(int n, char name, uint32_t uid, const struct chase *chase)
{
	ask_client(client_of(n, name, uid, chase));
}

static inline void
ask(int n, char name)
{
	ask_with(n, name, 0, NULL);
}

/* An attempt is answered with one address. */
static inline void
reply(uint32_t attempt, bool right_id)
{
	static const char record[] = "\300\14\0\1\0\1\0\0\0\74\0\4\300\0\2\7";
	uint8_t octets[512];
	size_t end = t.sent[attempt].length - 11;	/* without its OPT */

	memcpy(octets, t.sent[attempt].octets, end);
	memcpy(octets + end, record, sizeof(record) - 1);
	octets[1] ^= !right_id;
	octets[2] |= 0x80;
	octets[7] = 1;
	octets[11] = 0;
	engine_reply(t.engine, t.now, attempt, octets,
	    end + sizeof(record) - 1);
}

/* A probe's: without records; it had no OPT. */
static inline void
reply_empty(uint32_t attempt)
{
	uint8_t octets[512];

	memcpy(octets, t.sent[attempt].octets, t.sent[attempt].length);
	octets[2] |= 0x80;
	engine_reply(t.engine, t.now, attempt, octets,
	    t.sent[attempt].length);
}

static inline void
wait_ms(int64_t ms)
{
	monotime_t until = monotime_add_ms(t.now, ms), next;

	for (next = engine_next(t.engine); monotime_is_set(next) &&
	    next.ns <= until.ns; next = engine_next(t.engine)) {
		t.now = next.ns > t.now.ns ? next : t.now;
		engine_tick(t.engine, t.now);
	}
	t.now = until;
}

static inline int
rcode(void)
{
	return t.answer[3] & 15;
}

#endif

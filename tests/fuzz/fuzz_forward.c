/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as replies of upstreams: clients get well-formed messages with their
 * own id that are no longer than they take, and what the cache kept gives such
 * messages, too.
 *
 * The input is a list of replies, each behind two octets of length.  The first
 * octet of each says what comes before it: which client asks (2 bits), whether
 * the id is set right (1), and how many seconds pass (5).
 */
#include <string.h>
#include <sys/socket.h>

#include "nfq/ask/cached_answer.h"
#include "nfq/ask/engine.h"
#include "resolver/dns/wire.h"
#include "tests/fuzz/fuzz.h"

#define ENTRIES	64

/* www.example.test A: plain, with OPT, with DO, and over TCP. */
#define NAME	"\3wWw\7example\4test\0\0\1\0\1"
static const uint8_t plain[] = "\1\1\1\0\0\1\0\0\0\0\0\0" NAME;
static const uint8_t edns[] = "\2\2\1\0\0\1\0\0\0\0\0\1" NAME
    "\0\0\51\2\0\0\0\0\0\0\0";
static const uint8_t dnssec[] = "\3\3\1\0\0\1\0\0\0\0\0\1" NAME
    "\0\0\51\4\320\0\0\200\0\0\0";

static struct {
	struct engine_client clients[4];
	bool waits[4];
	struct {
		bool open;
		uint16_t id;
	} attempt[65536];
	uint32_t last;
	uint64_t random;
	bool cut;			/* TC leads nowhere */
} t;

static void
check_answer(const struct engine_client *client, const uint8_t *octets,
    size_t length)
{
	size_t limit = client->stream ? ENGINE_MESSAGE_MAX :
	    client->question.edns.udp_size > 512 ? 1232 : 512;
	uint8_t *copy = malloc(length);
	struct message m;

	check(copy != NULL && length >= DNS_HEADER && length <= limit);
	memcpy(copy, octets, length);
	check(message_read(&m, copy, length));
	check(m.id == client->question.id && (m.flags & DNS_FLAG_QR) != 0);
	check(m.edns == client->question.edns.present);
	check(!t.cut || client->stream || (m.flags & DNS_FLAG_TC) == 0);
	check(m.count[QUESTIONS] == 1 && memcmp(copy + DNS_HEADER,
	    client->question.wire, client->question.wire_length) == 0);
	free(copy);
}

static int
host_send(void *arg, uint32_t attempt, const struct forward_upstream *to,
    enum forward_transport transport, const uint8_t *octets, size_t length)
{
	(void)arg, (void)to, (void)transport;
	check(attempt < 65536 && !t.attempt[attempt].open);
	check(length >= DNS_HEADER);
	t.attempt[attempt].open = true;
	t.attempt[attempt].id = wire_load_u16(octets);
	t.last = attempt;
	return 0;
}

static void
host_close(void *arg, uint32_t attempt)
{
	(void)arg;
	check(t.attempt[attempt].open);
	t.attempt[attempt].open = false;
}

static void
host_answer(void *arg, struct engine_client *client, const uint8_t *octets,
    size_t length)
{
	(void)arg;
	check(t.waits[client - t.clients]);
	t.waits[client - t.clients] = false;
	check_answer(client, octets, length);
}

static void
host_give_back(void *arg, struct engine_client *client)
{
	(void)arg;
	check(t.waits[client - t.clients]);
	t.waits[client - t.clients] = false;
}

static void
host_random(void *arg, void *octets, size_t length)
{
	(void)arg;
	for (size_t i = 0; i < length; i++)
		((uint8_t *)octets)[i] = (uint8_t)(t.random =
		    t.random * 6364136223846793005 + 1442695040888963407) >> 3;
}

static uint32_t
host_wall(void *arg)
{
	(void)arg;
	return 1800000000;
}

static void
make_settings(struct forward_settings *s)
{
	forward_settings_defaults(s);
	s->upstreams = 2;
	for (int i = 0; i < 2; i++)
		s->upstream[i] = (struct forward_upstream){
			.family = AF_INET, .port = 53 + (uint32_t)i };
	s->domains = 1;
	s->domain[0] = (struct forward_domain){ .upstreams = 2,
		.upstream = { 0, 1 }, .cache = 1, .negative_max_s = 60 };
	s->health.loops = 0;
	s->limits.held = 8;
	s->cache.size = ENTRIES;
}

static void
ask(struct engine *engine, struct cache *cache,
    const struct forward_settings *settings, monotime_t now, int which)
{
	static const struct {
		const uint8_t *octets;
		size_t length;
	} questions[4] = {
		{ plain, sizeof(plain) - 1 }, { edns, sizeof(edns) - 1 },
		{ dnssec, sizeof(dnssec) - 1 }, { plain, sizeof(plain) - 1 },
	};
	struct engine_client *client = &t.clients[which];
	static uint8_t out[4096];
	struct cached_ask hit;
	size_t length;

	if (t.waits[which])
		return;
	*client = (struct engine_client){
		.message = questions[which].octets,
		.length = questions[which].length, .stream = which == 3 };
	question_parse(&client->question, client->message, client->length);
	hit = (struct cached_ask){ .message = client->message,
		.length = client->length, .question = &client->question };
	length = cached_answer(cache, settings, now, &hit, out, sizeof(out));
	if (length > 0)
		check_answer(client, out, length);
	t.waits[which] = true;
	engine_ask(engine, now, client);
}

/* A reply of that size for the attempt that was sent last, if it is open. */
static void
reply(struct engine *engine, monotime_t now, const uint8_t *octets,
    size_t length, bool right)
{
	uint8_t *copy = malloc(length + 1);

	check(copy != NULL);
	memcpy(copy, octets, length);
	if (right && length >= 2)
		wire_store_u16(copy, t.attempt[t.last].id);
	copy = realloc(copy, length > 0 ? length : 1);
	engine_reply(engine, now, t.last, copy, length);
	free(copy);
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
	struct wire_reader in = wire_reader_over(data, size);
	monotime_t now = monotime_from_ms(1000);
	void *memory = calloc(1, cache_octets(ENTRIES));
	struct cache *cache = cache_open(memory, ENTRIES, secret);
	struct engine *engine;

	memset(&t, 0, sizeof(t));
	make_settings(&settings);
	settings.cut = t.cut = size & 1;
	engine = engine_new(&host, &settings, cache, NULL, now);
	check(cache != NULL && engine != NULL);
	while (wire_left(&in) > 2) {
		size_t length = wire_read_u16(&in);
		uint8_t how = wire_read_u8(&in);

		if (length > wire_left(&in))
			length = wire_left(&in);
		now = monotime_add_ms(now, (how >> 3) * 1000);
		engine_tick(engine, now);
		ask(engine, cache, &settings, now, how & 3);
		reply(engine, now, wire_read_octets(&in, length), length,
		    (how & 4) == 0);
	}
	/* Whatever came, everybody is given back in time. */
	for (int i = 0; i < 100 && monotime_is_set(engine_next(engine)) &&
	    engine_next(engine).ns < now.ns + 5000000000; i++)
		engine_tick(engine, engine_next(engine));
	for (int i = 0; i < 4; i++)
		check(!t.waits[i]);
	engine_free(engine);
	cache_close(cache);
	free(memory);
	return 0;
}

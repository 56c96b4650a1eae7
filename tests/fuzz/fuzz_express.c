/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A question that a queue thread asks by itself: any octets as its packet, and any
 * behind it as the upstream's reply.  What the client gets is a sound packet, and
 * octet for octet what the forwarding thread would have made of the same reply.
 *
 * If the domain has a cache, the same is kept, too.
 *
 * The packet's source port chooses settings: bit 0 pass_ad, bit 1 failure_nodata,
 * bit 2 which codes are failures; bit 3 leaves the reply's id as it is; bit 4 a cache,
 * bit 5 one with narrow limits.
 */
#include <string.h>
#include <sys/eventfd.h>

#include "nfq/ask/cached_answer.h"
#include "nfq/ask/client_message.h"
#include "nfq/ask/engine.h"
#include "nfq/forward/express.h"
#include "nfq/ask/reply.h"
#include "resolver/dns/message.h"
#include "resolver/dns/wire.h"
#include "tests/fuzz/packet_and_reply.h"
#include "tests/packets.h"

#define ID	0x4e46
#define ENTRIES	16	/* of the cache: a message as long as may be fits in */
#define NOW	monotime_from_ms(100000)

static struct {
	struct interception in;
	struct express_question q;
	struct engine_client client;
	bool waits, given;
	size_t length;			/* of the engine's answer: */
	uint8_t answer[ENGINE_MESSAGE_MAX];
	void *memory[2];		/* of the caches: */
	struct cache *cache;		/* NULL: there is none */
	struct cache *taken;		/* what the queue's thread keeps */
} t;

static int
host_send(void *arg, uint32_t attempt, const struct forward_upstream *to,
    enum forward_transport transport, const uint8_t *octets, size_t length)
{
	(void)arg, (void)attempt, (void)to, (void)transport, (void)octets;
	(void)length;
	return 0;
}

static void
host_answer(void *arg, struct engine_client *client, const uint8_t *octets,
    size_t length)
{
	(void)arg;
	check(client == &t.client && t.waits && length <= sizeof(t.answer));
	t.waits = false;
	t.length = length;
	memcpy(t.answer, octets, length);
}

static void
host_give_back(void *arg, struct engine_client *client)
{
	(void)arg;
	check(client == &t.client && t.waits);
	t.waits = false;
}

static void
make_settings(struct forward_settings *s, uint16_t port)
{
	one_upstream(s);
	s->limits.held = 1;
	s->attempts.pass_ad = port & 1;
	s->attempts.failure_nodata = port >> 1 & 1;
	if ((port & 4) != 0)
		s->attempts.failure_rcodes = 0;
	s->domain[0].cache = (port & 16) != 0;
	if ((port & 32) != 0) {
		s->cache.min_ttl_s = 60;
		s->cache.max_ttl_s = 90;
		s->domain[0].negative_max_s = 10;
	}
}

static struct cache *
make_cache(void **memory)
{
	static const uint8_t secret[CACHE_SECRET];
	struct cache *cache;

	*memory = calloc(1, cache_octets(ENTRIES));
	check(*memory != NULL);
	cache = cache_open(*memory, ENTRIES, secret);
	check(cache != NULL);
	return cache;
}

/* Empty ones for each input. */
static void
begin_cache(bool cached)
{
	t.cache = cached ? make_cache(&t.memory[0]) : NULL;
	t.taken = cached ? make_cache(&t.memory[1]) : NULL;
}

static void
end_cache(void)
{
	cache_close(t.cache);
	cache_close(t.taken);
	free(t.memory[0]);
	free(t.memory[1]);
	t.memory[0] = t.memory[1] = NULL;
}

/* Whether the queue's thread would ask for this packet by itself. */
static bool
is_asked(const struct forward_settings *settings, const uint8_t *packet,
    size_t length)
{
	static struct express_board *board;
	static struct express *express;
	static struct upstreams upstreams = { .generation = 1 };
	static _Atomic uint64_t held;
	const struct queue_packet p = { .octets = packet, .length = length,
		.whole_length = length };
	const struct express_ask ask = { .packet = &p, .interception = &t.in,
		.settings = settings, .generation = 1,
		.caches = t.cache != NULL, .cache = t.cache };

	if (board == NULL) {
		struct express_options options = {
			.queue = eventfd(0, EFD_CLOEXEC),
			.upstreams = &upstreams, .held = &held };

		options.board = board = express_board_new();
		check(board != NULL && express_new(&express, &options) == 0);
		upstreams.upstream[0].srtt_us = 5000;
	}
	t.in.decision = (struct decision){ .verdict = VERDICT_FORWARD,
		.reason = REASON_FORWARD };
	t.in.domain = 0;
	return express_upstream(express, &ask) != NULL;
}

/* What stays of the packet, as it is held. */
static void
hold(const uint8_t *packet, size_t length)
{
	const struct queue_packet p = { .octets = packet, .length = length };

	check(length <= EXPRESS_OCTETS);
	held_packet_keep(&t.q.held, &p, &t.in, 0, t.q.octets);
	t.q.length = length;
	question_parse(&t.q.question, t.q.held.packet.payload,
	    t.q.held.packet.payload_length);
}

/* The engine goes on with the question, and gets the reply. */
static void
resume(const struct forward_settings *settings, const uint8_t *reply,
    size_t length)
{
	static const struct engine_host host = { .send = host_send,
		.close = host_close, .answer = host_answer,
		.pass = host_give_back, .drop = host_give_back,
		.random = host_random, .wall = host_wall };
	const monotime_t now = NOW;
	const struct engine_begun begun = { .id = ID,
		.sent = monotime_from_ms(99990) };
	struct engine *engine = engine_new(&host, settings, t.cache,
	    NULL, now);
	uint32_t attempt;

	check(engine != NULL);
	t.client = (struct engine_client){ .message = t.q.held.packet.payload,
		.length = t.q.held.packet.payload_length };
	t.waits = true;
	t.length = 0;
	attempt = engine_resume(engine, now, &t.client, &begun);
	check(attempt != ENGINE_NO_ATTEMPT && t.waits);
	engine_reply(engine, now, attempt, reply, length);
	t.given = !t.waits;
	for (int i = 0; i < 9 && t.waits; i++)
		engine_tick(engine, monotime_add_ms(now, 1000 * i));
	check(!t.waits);
	engine_free(engine);
}

static void
keep_answer(const struct forward_settings *settings,
    struct express_reply *reply)
{
	const struct keep_limits limits = { .cache = &settings->cache,
		.negative_max_s = settings->domain[0].negative_max_s,
		.wall_s = host_wall(NULL) };
	const struct fresh_reply fresh = { .question = &t.q.question,
		.message = &reply->message, .received = NOW };
	const struct cache_key key = cached_key(&t.q.question);
	uint8_t theirs[CACHE_MESSAGE_MAX], own[CACHE_MESSAGE_MAX];
	struct cache_entry entry, taken;
	bool found;

	if (t.cache == NULL || (t.q.question.flags & DNS_FLAG_RD) == 0)
		return;
	cached_keep(t.taken, &limits, &fresh, &reply->ttl);
	found = cache_find(t.cache, NOW, &key, 0, &entry, theirs);
	check(found == cache_find(t.taken, NOW, &key, 0, &taken, own));
	check(!found || (entry.kind == taken.kind &&
	    entry.stored.ns == NOW.ns && taken.stored.ns == NOW.ns &&
	    entry.expires.ns == taken.expires.ns &&
	    entry.length == taken.length &&
	    memcmp(theirs, own, entry.length) == 0));
}

/* The reply is an answer: what the client gets of it. */
static void
check_answer(const struct forward_settings *settings,
    const struct message *reply)
{
	struct express_reply taken = { .message = *reply,
		.ttl = { .max = UINT32_MAX, .soa_max = UINT32_MAX } };
	uint8_t *out = malloc(QUEUE_REPLY_MAX);
	struct express_answer answer;
	struct message m;

	check(out != NULL);
	keep_answer(settings, &taken);
	t.in.reply_length = express_answer(settings, &t.q, &taken, out,
	    &answer);
	t.in.answer_length = answer.length;
	check(t.in.reply_length <= QUEUE_REPLY_MAX);
	check(answer.octets + answer.length == out + t.in.reply_length);
	check(answer.length <= client_message_limit(&t.q.question, false,
	    CLIENT_UDP_MAX));
	check(header_fault(&t.in, t.q.octets, out) == NULL);
	check(message_read(&m, answer.octets, answer.length));
	check(m.id == t.q.question.id && (m.flags & DNS_FLAG_QR) != 0 &&
	    m.rcode == reply->rcode && m.count[QUESTIONS] == 1 &&
	    m.edns == t.q.question.edns.present);
	check(memcmp(answer.octets + DNS_HEADER, t.q.question.wire,
	    t.q.question.wire_length) == 0);
	check(t.given && t.length == answer.length &&
	    memcmp(t.answer, answer.octets, answer.length) == 0);
	free(out);
}

static void
take_reply(const struct forward_settings *settings, const uint8_t *octets,
    size_t length, bool any_id)
{
	uint8_t *copy = reply_with_id(octets, length, any_id && length >= 2 ?
	    wire_load_u16(octets) : ID);
	struct message m;

	resume(settings, copy, length);
	if (message_fit(&m, &t.q.question, ID, NULL, copy, length) ==
	    FIT_ANSWER && reply_is_answer(&settings->attempts, &m))
		check_answer(settings, &m);
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct forward_settings settings;
	const size_t end = packet_end(data, size);

	memset(&t.in, 0xa5, sizeof(t.in));
	t.in.policy = NULL;
	t.in.judged = false;
	t.in.asker = (struct asker){ .now = monotime_from_ms(1) };
	intercept_parse(&t.in, data, end, end);
	if (t.in.form != PACKET_OK)
		return 0;
	make_settings(&settings, t.in.packet.source_port);
	begin_cache(settings.domain[0].cache);
	if (is_asked(&settings, data, end)) {
		hold(data, end);
		take_reply(&settings, data + end, size - end,
		    (t.in.packet.source_port & 8) != 0);
	}
	end_cache();
	return 0;
}

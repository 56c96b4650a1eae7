/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forwardtry: engine and cache of forwarding under a clock that the caller moves.
 *
 *   forwardtry [SEED]
 *
 * Reads commands, an object of JSON a line, and prints what the engine does, the
 * same way; {"done": ...} ends the output of each command, with the time of the
 * next tick (0: none).  Times are microseconds, octets hexadecimal.
 *
 *   {"at": T, "settings": {...}}	the first makes the engine, later ones reload
 *   {"at": T}				lets the time pass
 *   {"at": T, "ask": CLIENT, "hex": "...", "uid": N, "stream": 0, "cached": 0}
 *					"cached": 1 asks as a queue thread does;
 *					"chase": "..." is a chain of the table, whose
 *					target is at "target" and is asked of
 *					"nameserver", a port; its OPT has "opt" octets
 *   {"at": T, "reply": ATTEMPT, "hex": "..."}
 *   {"at": T, "error": ATTEMPT, "errno": N}
 *   {"at": T, "force": UPSTREAM, "state": "down"}
 *   {"at": T, "status": 1}		counters, upstreams
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "nfq/ask/cached_answer.h"
#include "nfq/ask/engine.h"
#include "resolver/text/json_tree.h"

#define START_US	1000000000LL	/* so that no moment is "never" */
#define WALL_START	1790000000U	/* in September 2026 */

struct asker {
	struct engine_client client;
	struct chase chase;
	struct engine_end end;
	uint8_t chain[4096];
	uint32_t number;
	uint8_t octets[];
};

static struct {
	struct forward_settings settings;
	struct engine *engine;
	struct cache *cache;
	void *memory;
	monotime_t now;
	uint64_t random, hits, stale;
} t;

static void
fail(const char *why)
{
	fprintf(stderr, "forwardtry: %s\n", why);
	exit(2);
}

static const json_t *
member(const json_t *object, const char *key)
{
	return json_object_get(object, key);
}

static uint32_t
number_of(const json_t *object, const char *key, uint32_t otherwise)
{
	long long number;

	return json_tree_integer(member(object, key), 0, UINT32_MAX, &number) ?
	    (uint32_t)number : otherwise;
}

/* Octets of a hexadecimal string, at most "size". */
static size_t
hex_of(const json_t *node, uint8_t *octets, size_t size)
{
	const char *text = json_string_value(node);
	size_t n = text != NULL ? strlen(text) / 2 : 0;

	if (n > size)
		fail("hex: too long");
	for (size_t i = 0; i < n; i++) {
		unsigned int octet;

		if (sscanf(text + 2 * i, "%2x", &octet) != 1)
			fail("hex: malformed");
		octets[i] = (uint8_t)octet;
	}
	return n;
}

static void
print_hex(const uint8_t *octets, size_t length)
{
	printf("\"hex\": \"");
	for (size_t i = 0; i < length; i++)
		printf("%02x", octets[i]);
	printf("\"}\n");
}

/* A table of the numbers of a settings group. */
struct row {
	const char *key;
	size_t offset;
};

#define ROW(part, field) { #field, offsetof(struct forward_settings, part.field) }

static const struct row cache_rows[] = {
	ROW(cache, size), ROW(cache, min_ttl_s), ROW(cache, max_ttl_s),
	ROW(cache, negative), ROW(cache, failure_s), ROW(cache, stale),
	ROW(cache, stale_s), ROW(cache, stale_ttl_s),
	ROW(cache, stale_wait_ms), ROW(cache, stale_retry_s),
	ROW(cache, stale_retry_max_s), ROW(cache, prefetch),
	ROW(cache, prefetch_hits), { NULL, 0 }
};
static const struct row attempt_rows[] = {
	ROW(attempts, per_server), ROW(attempts, most),
	ROW(attempts, wait_ms), ROW(attempts, budget_ms),
	ROW(attempts, explore), ROW(attempts, failure_rcodes),
	ROW(attempts, failure_nodata), ROW(attempts, join),
	ROW(attempts, pass_ad), { NULL, 0 }
};
static const struct row health_rows[] = {
	ROW(health, losses), ROW(health, probe_ms), ROW(health, probe_max_ms),
	ROW(health, probe_wait_ms), ROW(health, probe_rd),
	ROW(health, fail_fast), ROW(health, loops),
	ROW(health, loop_retry_s), { NULL, 0 }
};
static const struct row limit_rows[] = {
	ROW(limits, held), ROW(limits, domain), { NULL, 0 }
};

static void
read_rows(struct forward_settings *s, const json_t *group,
    const struct row *rows)
{
	for (; rows->key != NULL; rows++) {
		uint8_t *at = (uint8_t *)s + rows->offset;
		uint32_t value;

		memcpy(&value, at, sizeof(value));
		value = number_of(group, rows->key, value);
		memcpy(at, &value, sizeof(value));
	}
}

static void
read_upstreams(struct forward_settings *s, const json_t *list)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		struct forward_upstream *up;

		if (s->upstreams == FORWARD_UPSTREAMS)
			fail("too many upstreams");
		up = &s->upstream[s->upstreams++];
		up->family = AF_INET;
		memcpy(up->address, "\300\0\2\1", 4);
		up->port = number_of(item, "port", 53);
		up->transport = number_of(item, "transport", 0);
		up->mix_case = number_of(item, "mix_case", 0);
	}
}

static void
read_domains(struct forward_settings *s, const json_t *list)
{
	const json_t *item, *up;
	size_t i, j;

	json_array_foreach(list, i, item) {
		struct forward_domain *d = &s->domain[s->domains++];
		const json_t *ups = member(item, "upstreams");
		long long index;

		if (s->domains == FORWARD_DOMAINS)
			fail("too many domains");
		(void)hex_of(member(item, "name"), d->name, sizeof(d->name));
		json_array_foreach(ups, j, up) {
			if (d->upstreams == FORWARD_PER_DOMAIN)
				break;
			if (!json_tree_integer(up, 0, FORWARD_UPSTREAMS - 1,
			    &index))
				fail("upstreams: no index");
			d->upstream[d->upstreams++] = (uint32_t)index;
		}
		d->select = number_of(item, "select", 0);
		d->fallback = number_of(item, "fallback", 0);
		d->cache = number_of(item, "cache", 1);
		d->negative_max_s = number_of(item, "negative_max_s", 30);
	}
}

static void
host_random(void *arg, void *octets, size_t length)
{
	uint8_t *at = octets;

	(void)arg;
	for (size_t i = 0; i < length; i++) {	/* xorshift64 */
		t.random ^= t.random << 13;
		t.random ^= t.random >> 7;
		t.random ^= t.random << 17;
		at[i] = (uint8_t)(t.random >> 32);
	}
}

static uint32_t
host_wall(void *arg)
{
	(void)arg;
	return WALL_START + (uint32_t)(t.now.ns / 1000000000 -
	    START_US / 1000000);
}

static int
host_send(void *arg, uint32_t attempt, const struct forward_upstream *to,
    enum forward_transport transport, const uint8_t *octets, size_t length)
{
	(void)arg;
	printf("{\"send\": %u, \"port\": %u, \"transport\": \"%s\", ", attempt,
	    to->port, transport == FORWARD_UDP ? "udp" :
	    transport == FORWARD_TCP ? "tcp" : "tls");
	print_hex(octets, length);
	return 0;
}

static void
host_close(void *arg, uint32_t attempt)
{
	(void)arg;
	printf("{\"close\": %u}\n", attempt);
}

/* Where an answer is from, by the counter that has grown. */
static const char *
source(void)
{
	const struct engine_stats *s = engine_stats(t.engine);
	bool cache = s->hits > t.hits, stale = s->stale > t.stale;

	t.hits = s->hits;
	t.stale = s->stale;
	return stale ? "stale" : cache ? "cache" : "upstream";
}

static void
host_answer(void *arg, struct engine_client *client, const uint8_t *octets,
    size_t length)
{
	struct asker *asker = (struct asker *)client;

	(void)arg;
	printf("{\"answer\": %u, \"source\": \"%s\", ", asker->number,
	    source());
	print_hex(octets, length);
	free(asker);
}

static void
host_pass(void *arg, struct engine_client *client)
{
	struct asker *asker = (struct asker *)client;

	(void)arg;
	printf("{\"pass\": %u}\n", asker->number);
	free(asker);
}

static void
host_drop(void *arg, struct engine_client *client)
{
	struct asker *asker = (struct asker *)client;

	(void)arg;
	printf("{\"drop\": %u}\n", asker->number);
	free(asker);
}

static const struct engine_host host = {
	.send = host_send, .close = host_close, .answer = host_answer,
	.pass = host_pass, .drop = host_drop, .random = host_random,
	.wall = host_wall,
};

static void
open_cache(uint32_t size)
{
	uint8_t secret[CACHE_SECRET];

	cache_close(t.cache);
	free(t.memory);
	t.cache = NULL;
	t.memory = NULL;
	if (size == 0)
		return;
	t.memory = calloc(1, cache_octets(size));
	host_random(NULL, secret, sizeof(secret));
	if (t.memory == NULL ||
	    (t.cache = cache_open(t.memory, size, secret)) == NULL)
		fail("no memory");
}

static void
take_settings(const json_t *given)
{
	static struct forward_settings s;
	uint32_t before = t.settings.cache.size;

	forward_settings_defaults(&s);
	read_upstreams(&s, member(given, "upstreams"));
	read_domains(&s, member(given, "domains"));
	read_rows(&s, member(given, "cache"), cache_rows);
	read_rows(&s, member(given, "attempts"), attempt_rows);
	read_rows(&s, member(given, "health"), health_rows);
	read_rows(&s, member(given, "limits"), limit_rows);
	(void)hex_of(member(given, "probe_name"), s.health.probe_name,
	    FORWARD_NAME);
	t.settings = s;
	if (t.engine == NULL || before != s.cache.size)
		open_cache(s.cache.size);
	if (t.engine != NULL)
		engine_reload(t.engine, t.now, &s, t.cache);
	else
		t.engine = engine_new(&host, &s, t.cache, NULL, t.now);
	if (t.engine == NULL)
		fail("no memory");
}

/* As a queue thread: the cache alone.  False: the question is the engine's. */
static bool
ask_cache(const struct asker *asker)
{
	static uint8_t out[4096];
	struct question q;
	struct cached_ask ask = { .message = asker->octets,
		.length = asker->client.length, .question = &q };
	size_t length;
	int domain;

	question_parse(&q, ask.message, ask.length);
	if (t.cache == NULL || q.form != QUESTION_PLAIN)
		return false;
	domain = forward_settings_domain(&t.settings, &q.name);
	if (domain < 0)
		return false;
	ask.domain = (uint32_t)domain;
	length = cached_answer(t.cache, &t.settings, t.now, &ask, out,
	    sizeof(out));
	if (length == 0)
		return false;
	printf("{\"answer\": %u, \"source\": \"cache\", ", asker->number);
	print_hex(out, length);
	return true;
}

static void
set_chase(struct asker *asker, const json_t *command)
{
	asker->chase = (struct chase){ .chain = asker->chain,
		.length = hex_of(member(command, "chase"), asker->chain,
		    sizeof(asker->chain)),
		.target = number_of(command, "target", 0),
		.opt = number_of(command, "opt", 0) };
	asker->client.chase = &asker->chase;
	asker->client.end = &asker->end;
	asker->client.nameserver = (struct forward_upstream){
		.family = AF_INET, .address = { 127, 0, 0, 1 },
		.port = number_of(command, "nameserver", 0),
		.transport = FORWARD_AUTO };
}

static void
ask(const json_t *command)
{
	struct asker *asker = calloc(1, sizeof(*asker) + 65536);

	if (asker == NULL)
		fail("no memory");
	asker->number = number_of(command, "ask", 0);
	asker->client.message = asker->octets;
	asker->client.length = hex_of(member(command, "hex"), asker->octets,
	    65535);
	question_parse(&asker->client.question, asker->octets,
	    asker->client.length);
	asker->client.uid = number_of(command, "uid", 0);
	asker->client.stream = number_of(command, "stream", 0) != 0;
	if (member(command, "chase") != NULL)
		set_chase(asker, command);
	if (number_of(command, "cached", 0) != 0 && ask_cache(asker))
		free(asker);
	else
		engine_ask(t.engine, t.now, &asker->client);
}

static void
reply(const json_t *command)
{
	static uint8_t octets[65536];
	size_t length = hex_of(member(command, "hex"), octets, 65535);
	/* At its exact length, so that a sanitizer sees what is read behind it. */
	uint8_t *copy = malloc(length + (length == 0));

	if (copy == NULL)
		fail("no memory");
	memcpy(copy, octets, length);
	engine_reply(t.engine, t.now, number_of(command, "reply", 0), copy,
	    length);
	free(copy);
}

/* As many losses, or a loop, as it takes. */
static void
force(const json_t *command)
{
	struct upstream *up = engine_upstream(t.engine,
	    number_of(command, "force", 0));
	const char *state = json_string_value(member(command, "state"));

	if (state == NULL)
		fail("force: no state");
	if (strcmp(state, "up") == 0) {
		upstream_replied(up, t.now, up->srtt_us);
		up->state = UPSTREAM_UP;
	} else if (strcmp(state, "down") == 0) {
		while (up->state == UPSTREAM_UP)
			upstream_lost(up, t.now, &t.settings.health);
		up->probe_at = monotime_add_ms(t.now, up->probe_ms);
	} else {
		upstream_looped(up, t.now, &t.settings.health);
	}
}

static void
print_status(void)
{
	const struct engine_stats *s = engine_stats(t.engine);

	printf("{\"status\": {\"held\": %u, \"questions\": %u, \"hits\": %llu, "
	    "\"stale\": %llu, \"joined\": %llu, \"mismatched\": %llu}, "
	    "\"upstreams\": [", s->held, s->questions,
	    (unsigned long long)s->hits, (unsigned long long)s->stale,
	    (unsigned long long)s->joined,
	    (unsigned long long)s->mismatched);
	for (uint32_t i = 0; i < t.settings.upstreams; i++) {
		static const char *const states[] = {
			[UPSTREAM_UP] = "up", [UPSTREAM_DOWN] = "down",
			[UPSTREAM_LOOPING] = "looping" };
		const struct upstream *up = engine_upstream(t.engine, i);

		printf("%s{\"state\": \"%s\", \"srtt_us\": %u, \"lost\": %u}",
		    i > 0 ? ", " : "", states[up->state],
		    up->srtt_us, up->lost);
	}
	printf("]}\n");
}

static void
run(const json_t *command)
{
	long long at = 0;

	if (!json_tree_integer(member(command, "at"), 0, 1LL << 50, &at))
		fail("a command without \"at\"");
	t.now = (monotime_t){ (at + START_US) * 1000 };
	if (member(command, "settings") != NULL)
		take_settings(member(command, "settings"));
	if (t.engine == NULL)
		fail("no settings yet");
	if (member(command, "ask") != NULL)
		ask(command);
	if (member(command, "reply") != NULL)
		reply(command);
	if (member(command, "error") != NULL)
		engine_error(t.engine, t.now, number_of(command, "error", 0),
		    (int)number_of(command, "errno", 111));
	if (member(command, "force") != NULL)
		force(command);
	engine_tick(t.engine, t.now);
	if (member(command, "status") != NULL)
		print_status();
}

int
main(int argc, char **argv)
{
	struct json_tree tree = JSON_TREE_INIT;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	t.random = argc > 1 ? strtoull(argv[1], NULL, 10) | 1 : 1;
	t.random *= 0x9e3779b97f4a7c15;
	while ((length = getline(&line, &size, stdin)) > 0) {
		const struct json_range range = { .text = line,
			.length = (size_t)length, .line = 1 };
		const json_t *command;
		const char *why = "";
		unsigned int where;
		monotime_t next;
		int error;

		command = json_tree_take(&tree, &range, &error, &why, &where);
		if (command == NULL)
			fail(why);
		run(command);
		next = engine_next(t.engine);
		printf("{\"done\": %lld}\n", monotime_is_set(next) ?
		    (long long)((next.ns + 999) / 1000 - START_US) : 0LL);
		(void)fflush(stdout);
	}
	engine_free(t.engine);
	open_cache(0);
	json_tree_free(&tree);
	free(line);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reflector without a network: what it asks is seen, and the test says what
 * the server answers.
 */
#ifndef NFDNS_TESTS_UNIT_RESOLVER_FEED_REFLECTOR_SERVER_H
#define NFDNS_TESTS_UNIT_RESOLVER_FEED_REFLECTOR_SERVER_H

#include "resolver/feed/reflector.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static struct kube_room room;
static struct reflector r;
static monotime_t now;
static char target[REFLECTOR_TARGET_SIZE];
static enum feed_cause cause;

static inline const struct kube_kind *
kind_of(const char *plural)
{
	for (size_t i = 0; i < kube_kind_count; i++) {
		if (strcmp(kube_kinds[i].plural, plural) == 0)
			return &kube_kinds[i];
	}
	abort();
}

static inline void
begin(const char *plural)
{
	reflector_free(&r);
	now = monotime_from_ms(1000000);
	room.limit = 1 << 20;
	reflector_init(&r, kind_of(plural), NULL, &room, 7);
}

/* Passes time until the next request is due, and sends it: what it asks. */
static inline const char *
ask(void)
{
	CHECK(!r.running);
	if (!reflector_is_due(&r, now))
		now = reflector_deadline(&r);
	CHECK(reflector_is_due(&r, now));
	reflector_start(&r, now, 0, target);
	CHECK(!reflector_is_due(&r, now));
	return target;
}

/* Whether the next request has that in it, at once or not. */
static inline bool
asks(const char *what)
{
	bool found = strstr(ask(), what) != NULL;

	if (!found)
		printf("  asked: %s\n", target);
	return found;
}

/* What comes behind the path of services. */
static inline const char *
query(void)
{
	const char *text = strchr(ask(), '?');

	return text != NULL ? text + 1 : "";
}

static inline bool
say(const char *text)
{
	return reflector_body(&r, now, text, strlen(text));
}

static inline void
end_whole(void)
{
	const struct reflector_end end = { .whole = true, .why = "" };

	cause = reflector_end(&r, now, 500, &end);
}

static inline void
lose(enum feed_cause why)
{
	const struct reflector_end end = { .cause = why, .why = "lost" };

	cause = reflector_end(&r, now, 500, &end);
}

/* A whole answer to the request that runs. */
static inline void
answer(unsigned int http, const char *body)
{
	reflector_head(&r, now, http);
	(void)say(body);
	end_whole();
}

static inline void
refuse(unsigned int http, const char *reason)
{
	char body[200];

	(void)snprintf(body, sizeof(body), "{\"kind\":\"Status\",\"code\":%u,"
	    "\"reason\":\"%s\",\"message\":\"why\"}", http, reason);
	answer(http, body);
}

#define LIST(version) "{\"metadata\":{\"resourceVersion\":\"" version "\"}," \
	"\"items\":[{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"}}]}"
#define PAGE(token) "{\"metadata\":{\"resourceVersion\":\"10\",\"continue\":" \
	"\"" token "\"},\"items\":[{\"metadata\":{\"name\":\"p" token "\"}}]}"
#define EVENT(type, name, version) "{\"type\":\"" type "\",\"object\":{" \
	"\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version \
	"\"}}}\n"
#define GONE "{\"type\":\"ERROR\",\"object\":{\"code\":410,\"reason\":" \
	"\"Expired\"}}"

/* Watching, from a list at version 10. */
static inline void
watch_from_10(void)
{
	begin("services");
	(void)ask();
	answer(200, LIST("10"));
	CHECK(asks("resourceVersion=10&"));
	reflector_head(&r, now, 200);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/reflector_target.h"

#include <stdio.h>
#include <string.h>

/* The server ends a watch after a time between the two: not all at once. */
#define WATCH_SECONDS_LEAST	300
#define WATCH_SECONDS_MORE	300

struct writer {
	char *at;
	char *end;			/* room for the NUL is behind it */
	char next;			/* '?' or '&' */
};

static void
put(struct writer *w, const char *text)
{
	size_t length = strlen(text);

	if (length > (size_t)(w->end - w->at))
		length = (size_t)(w->end - w->at);
	memcpy(w->at, text, length);
	w->at += length;
	*w->at = '\0';
}

/* RFC 3986 section 2.1: all but unreserved characters. */
static void
put_escaped(struct writer *w, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789-._~";
	char one[4];

	for (; *text != '\0'; text++) {
		if (strchr(plain, *text) != NULL)
			(void)snprintf(one, sizeof(one), "%c", *text);
		else
			(void)snprintf(one, sizeof(one), "%%%02X",
			    (unsigned int)(unsigned char)*text);
		put(w, one);
	}
}

static void
put_next(struct writer *w)
{
	const char text[] = { w->next, '\0' };

	put(w, text);
	w->next = '&';
}

/* The value is of ours and needs no escape. */
static void
parameter(struct writer *w, const char *text)
{
	put_next(w);
	put(w, text);
}

static void
escaped(struct writer *w, const char *name, const char *value)
{
	put_next(w);
	put(w, name);
	put(w, "=");
	put_escaped(w, value);
}

/*
 * A page goes on by its token alone.  "0" and no version at all take a limit;
 * a list at a version does not, since only without one it comes from the
 * server's cache.
 */
static void
put_list(struct writer *w, const struct reflector *r)
{
	const struct kube_mirror *m = &r->mirror;

	if (!r->unpaged && (m->page[0] != '\0' ||
	    r->from != REFLECTOR_FROM_LAST))
		parameter(w, "limit=500");
	if (m->page[0] != '\0')
		escaped(w, "continue", m->page);
	else if (r->from == REFLECTOR_FROM_CACHE)
		parameter(w, "resourceVersion=0");
	else if (r->from == REFLECTOR_FROM_LAST)
		escaped(w, "resourceVersion", m->version);
}

static void
put_watch(struct writer *w, const struct reflector *r, uint64_t random)
{
	char timeout[40];

	(void)snprintf(timeout, sizeof(timeout), "timeoutSeconds=%u",
	    WATCH_SECONDS_LEAST + (unsigned int)(random %
	    (WATCH_SECONDS_MORE + 1)));
	parameter(w, "watch=1");
	parameter(w, "allowWatchBookmarks=true");
	if (r->ask == REFLECTOR_ASK_INITIAL) {
		parameter(w, "sendInitialEvents=true");
		parameter(w, "resourceVersionMatch=NotOlderThan");
	}
	if (r->ask == REFLECTOR_ASK_WATCH || r->from == REFLECTOR_FROM_LAST)
		escaped(w, "resourceVersion", r->mirror.version);
	parameter(w, timeout);
}

void
reflector_target(const struct reflector *r, uint64_t random,
    char target[static REFLECTOR_TARGET_SIZE])
{
	const struct kube_kind *kind = r->mirror.kind;
	struct writer w = { .at = target,
	    .end = target + REFLECTOR_TARGET_SIZE - 1, .next = '?' };

	put(&w, kind->path);
	if (r->namespace != NULL) {
		put(&w, "/namespaces/");
		put_escaped(&w, r->namespace);
	}
	put(&w, "/");
	put(&w, kind->plural);
	if (kind->selector != NULL) {
		parameter(&w, "fieldSelector=");
		put(&w, kind->selector);
	}
	if (r->ask == REFLECTOR_ASK_LIST)
		put_list(&w, r);
	else
		put_watch(&w, r, random);
}

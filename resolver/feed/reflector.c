/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/reflector.h"

#include <stdio.h>
#include <string.h>

/*
 * The path and query of a request: parameters as ListOptions has them
 * (k8s.io/apimachinery pkg/apis/meta/v1/types.go), in the combinations that an
 * API server takes (pkg/apis/meta/internalversion/validation).
 */

#define RETRY_AFTER_MOST	300	/* seconds that a server may ask for */

/* What an answer comes to. */
enum outcome {
	OUTCOME_PAGE,			/* the list has more of them */
	OUTCOME_LISTED,
	OUTCOME_ENDED,			/* a watch, as planned */
	OUTCOME_EXPIRED,
	OUTCOME_TOO_LARGE,
	OUTCOME_UNAUTHORIZED,
	OUTCOME_FORBIDDEN,
	OUTCOME_ABSENT,
	OUTCOME_FAILED,
};

/* An end that is looked at: of reflector_end(), or made of the answer. */
struct ending {
	monotime_t now;
	uint64_t random;
	unsigned int retry_after;
	enum feed_cause cause;
	const char *why;
};

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
	escaped(w, "resourceVersion", r->mirror.version);
	parameter(w, timeout);
}

static void
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

void
reflector_init(struct reflector *r, const struct kube_kind *kind,
    const char *namespace, struct kube_room *room, uint64_t random)
{
	*r = (struct reflector){
		.namespace = namespace,
		.ask = REFLECTOR_ASK_LIST,
		.from = REFLECTOR_FROM_CACHE,
	};
	kube_mirror_init(&r->mirror, kind, room, random);
}

void
reflector_free(struct reflector *r)
{
	kube_mirror_free(&r->mirror);
}

bool
reflector_is_due(const struct reflector *r, monotime_t now)
{
	return !r->running && monotime_is_past(now, r->due);
}

/* Of the running request. */
static monotime_t
silence(const struct reflector *r)
{
	monotime_t whole = monotime_add_ms(r->started, REFLECTOR_LIST_WHOLE);
	monotime_t silent;

	if (r->ask == REFLECTOR_ASK_WATCH)
		return monotime_add_ms(r->heard, REFLECTOR_WATCH_SILENCE);
	silent = monotime_add_ms(r->heard, REFLECTOR_LIST_SILENCE);
	return monotime_is_past(silent, whole) ? whole : silent;
}

monotime_t
reflector_deadline(const struct reflector *r)
{
	return r->running ? silence(r) : r->due;
}

bool
reflector_is_silent(const struct reflector *r, monotime_t now)
{
	return r->running && monotime_is_past(now, silence(r));
}

void
reflector_start(struct reflector *r, monotime_t now, uint64_t random,
    char target[static REFLECTOR_TARGET_SIZE])
{
	r->running = true;
	r->http = 0;
	r->result = KUBE_GOES_ON;
	r->started = r->heard = now;
	reflector_target(r, random, target);
}

static void
is_well(struct reflector *r)
{
	r->failing = r->absent = r->refused = false;
	r->denials = 0;
	r->error[0] = '\0';
}

void
reflector_head(struct reflector *r, monotime_t now, unsigned int http)
{
	r->http = http;
	r->heard = now;
	kube_mirror_begin(&r->mirror, http != 200 ? KUBE_BODY_REFUSAL :
	    r->ask == REFLECTOR_ASK_LIST ? KUBE_BODY_LIST : KUBE_BODY_WATCH);
	if (http == 200 && r->ask == REFLECTOR_ASK_WATCH)
		is_well(r);
}

/* The store was replaced: watch from here. */
static void
listed(struct reflector *r, monotime_t now)
{
	r->listed = now;
	r->ask = REFLECTOR_ASK_WATCH;
	r->from = REFLECTOR_FROM_LAST;
	r->unpaged = false;
	r->stumbles = 0;
	is_well(r);
}

bool
reflector_body(struct reflector *r, monotime_t now, const void *octets,
    size_t length)
{
	r->heard = now;
	if (r->result == KUBE_GOES_ON)
		r->result = kube_mirror_body(&r->mirror, octets, length);
	return r->result == KUBE_GOES_ON;
}

static void
set_error(struct reflector *r, unsigned int http, const char *why)
{
	char text[FEED_TEXT + 100];
	char number[20] = "";

	if (http != 0)
		(void)snprintf(number, sizeof(number), "HTTP %u: ", http);
	(void)snprintf(text, sizeof(text), "%s%s%s: %s%s",
	    r->mirror.kind->plural, r->namespace != NULL ? " of " : "",
	    r->namespace != NULL ? r->namespace : "", number, why);
	(void)snprintf(r->error, sizeof(r->error), "%.*s",
	    (int)sizeof(r->error) - 1, text);
}

/* Back-off, and at least what the server asks for. */
static int64_t
delay_ms(struct reflector *r, const struct ending *e, bool slowly)
{
	unsigned int asked = e->retry_after < RETRY_AFTER_MOST ?
	    e->retry_after : RETRY_AFTER_MOST;
	int64_t delay;

	if (!monotime_is_set(r->failed) ||
	    monotime_ms_since(e->now, r->failed) > REFLECTOR_CALM)
		backoff_reset(&r->backoff);
	r->failed = e->now;
	delay = slowly ? backoff_slow_ms(&r->backoff, e->random) :
	    backoff_next_ms(&r->backoff, e->random);
	return delay > asked * 1000LL ? delay : asked * 1000LL;
}

/*
 * A watch that was let in has failed by what it said.  After some of these the
 * objects are listed.  A server that is asked for patience (429) is not asked for
 * more; one that has trouble (500) once, at the newest version, since the one that
 * is watched from may be the trouble: then until a watch has brought anything, the
 * same watch again.
 */
static void
stumble(struct reflector *r, const struct ending *e)
{
	const bool refused = e->cause == FEED_CAUSE_STATUS;

	if (refused && (r->mirror.status.code == 429 || r->listed_newest))
		return;
	if (++r->stumbles < REFLECTOR_STUMBLES)
		return;
	r->stumbles = 0;
	r->ask = REFLECTOR_ASK_LIST;
	if (refused)
		r->from = REFLECTOR_FROM_LATEST;
	r->listed_newest = refused;
}

static enum feed_cause
fail(struct reflector *r, const struct ending *e, bool slowly)
{
	r->failing = true;
	r->due = monotime_add_ms(e->now, delay_ms(r, e, slowly));
	if (r->http != 429)
		r->mirror.page[0] = '\0';
	if (r->ask == REFLECTOR_ASK_WATCH && r->http == 200 &&
	    e->cause != FEED_CAUSE_RESET)
		stumble(r, e);
	set_error(r, r->http == 200 ? 0 : r->http, e->why);
	return e->cause;
}

static enum feed_cause
on_ended(struct reflector *r, struct ending *e)
{
	monotime_t soon = monotime_add_ms(r->started, REFLECTOR_SHORT_WATCH);

	if (!monotime_is_past(e->now, soon) && r->mirror.events == 0) {
		e->cause = FEED_CAUSE_PROTOCOL;
		e->why = "a watch that ended at once without an event";
		return fail(r, e, false);
	}
	r->due = monotime_is_past(e->now, soon) ? e->now : soon;
	if (monotime_ms_since(e->now, r->listed) > REFLECTOR_RESYNC)
		reflector_relist(r, r->due);
	return FEED_CAUSE_PLANNED;
}

/* What was asked for is no longer in the server's history. */
static enum feed_cause
on_expired(struct reflector *r, struct ending *e)
{
	bool again = monotime_is_set(r->expired) &&
	    monotime_ms_since(e->now, r->expired) < 60000;

	/* Once: a server may give pages of what was to come as one. */
	if (r->ask == REFLECTOR_ASK_LIST && r->mirror.page[0] != '\0' &&
	    !r->unpaged) {
		r->mirror.page[0] = '\0';
		r->unpaged = true;
		r->due = e->now;
		return FEED_CAUSES;
	}
	if (r->ask != REFLECTOR_ASK_WATCH) {
		if (r->from == REFLECTOR_FROM_LATEST)
			return fail(r, e, false);
		r->from = REFLECTOR_FROM_LATEST;
		r->unpaged = false;
		r->due = e->now;
		return FEED_CAUSES;
	}
	r->expired = e->now;
	r->ask = REFLECTOR_ASK_LIST;
	r->from = REFLECTOR_FROM_LAST;
	r->due = again ? monotime_add_ms(e->now, delay_ms(r, e, false)) :
	    e->now;
	return FEED_CAUSE_PLANNED;
}

/*
 * The server is behind what another one of its kind has told us, or was set
 * back: what it has now is what counts.
 */
static enum feed_cause
on_too_large(struct reflector *r, struct ending *e)
{
	bool list = r->ask != REFLECTOR_ASK_WATCH;
	enum reflector_from from = r->from;

	r->ask = REFLECTOR_ASK_LIST;
	r->from = REFLECTOR_FROM_LATEST;
	r->mirror.page[0] = '\0';
	if (!list || from == REFLECTOR_FROM_LATEST)
		return fail(r, e, false);
	r->due = e->now;
	return FEED_CAUSES;
}

static enum feed_cause
on_unauthorized(struct reflector *r, struct ending *e)
{
	enum feed_cause cause = fail(r, e, false);

	/* Within a watch, which was let in, it may come each time. */
	if (r->denials++ == 0 && r->http == 401)
		r->due = e->now;
	return cause;
}

static enum feed_cause
on_absent(struct reflector *r, struct ending *e)
{
	if (r->mirror.kind->needed)
		return fail(r, e, true);
	if (r->mirror.synced && ++r->denials == 1) {
		(void)fail(r, e, false);
		r->due = monotime_add_ms(e->now, REFLECTOR_GONE_AGAIN);
		return e->cause;
	}
	kube_mirror_clear(&r->mirror);
	is_well(r);
	r->absent = true;
	r->mirror.synced = false;
	r->ask = REFLECTOR_ASK_LIST;
	r->from = REFLECTOR_FROM_CACHE;
	r->due = monotime_add_ms(e->now, REFLECTOR_ABSENT +
	    backoff_spread(REFLECTOR_ABSENT, e->random));
	return FEED_CAUSES;
}

/* What a status means, of HTTP or inside of a watch. */
static enum outcome
outcome_of_status(const struct reflector *r, unsigned int code)
{
	const struct kube_status *status = &r->mirror.status;

	if (code == 410 || status->expired)
		return OUTCOME_EXPIRED;
	if (code == 504 && status->too_large)
		return OUTCOME_TOO_LARGE;
	if (code == 401)
		return OUTCOME_UNAUTHORIZED;
	if (code == 403)
		return OUTCOME_FORBIDDEN;
	if (code == 404)
		return OUTCOME_ABSENT;
	return OUTCOME_FAILED;
}

static enum outcome
outcome_of(struct reflector *r, const struct reflector_end *end,
    struct ending *e)
{
	/* A refusal counts even if the rest of it was lost. */
	if (r->result == KUBE_GOES_ON && (end->whole ||
	    (r->http != 0 && r->http != 200)))
		r->result = kube_mirror_end(&r->mirror);
	else if (r->result == KUBE_GOES_ON)
		return OUTCOME_FAILED;
	if (r->result == KUBE_REFUSED) {
		const struct kube_status *status = &r->mirror.status;
		unsigned int code = r->http != 200 ? r->http : status->code;

		/* The server's own words, and what it asks for. */
		e->cause = FEED_CAUSE_STATUS;
		if (status->message[0] != '\0')
			e->why = status->message;
		else
			e->why = "refused without a reason";
		if (status->retry_after > e->retry_after)
			e->retry_after = status->retry_after;
		return outcome_of_status(r, code);
	}
	if (r->result == KUBE_BROKEN) {
		e->cause = FEED_CAUSE_CONTENT;
		e->why = r->mirror.why;
		return OUTCOME_FAILED;
	}
	if (r->ask == REFLECTOR_ASK_WATCH)
		return OUTCOME_ENDED;
	return r->mirror.page[0] != '\0' ? OUTCOME_PAGE : OUTCOME_LISTED;
}

enum feed_cause
reflector_end(struct reflector *r, monotime_t now, uint64_t random,
    const struct reflector_end *end)
{
	struct ending e = { .now = now, .random = random,
	    .retry_after = end->retry_after, .cause = end->cause,
	    .why = end->why };

	r->running = false;
	if (r->ask == REFLECTOR_ASK_WATCH && r->mirror.events > 0)
		r->listed_newest = false;
	switch (outcome_of(r, end, &e)) {
	case OUTCOME_LISTED:
		listed(r, now);
		/* FALLTHROUGH */
	case OUTCOME_PAGE:
		r->due = now;
		return FEED_CAUSES;
	case OUTCOME_ENDED:
		return on_ended(r, &e);
	case OUTCOME_EXPIRED:
		return on_expired(r, &e);
	case OUTCOME_TOO_LARGE:
		return on_too_large(r, &e);
	case OUTCOME_UNAUTHORIZED:
		return on_unauthorized(r, &e);
	case OUTCOME_FORBIDDEN:
		/* Once may be an API server that has only just started. */
		r->refused = ++r->denials > 1;
		return fail(r, &e, r->denials > 1);
	case OUTCOME_ABSENT:
		return on_absent(r, &e);
	default:
		return fail(r, &e, false);
	}
}

void
reflector_relist(struct reflector *r, monotime_t now)
{
	r->running = false;
	r->ask = REFLECTOR_ASK_LIST;
	r->from = REFLECTOR_FROM_LATEST;
	r->unpaged = false;
	r->mirror.page[0] = '\0';
	r->due = now;
}

bool
reflector_is_settled(const struct reflector *r)
{
	return r->mirror.synced || r->absent ||
	    (r->refused && !r->mirror.kind->needed && !r->mirror.dropped);
}

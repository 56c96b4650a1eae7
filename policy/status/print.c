/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status page as text.  One list of items is collected; both the lines for
 * people and the JSON are made from it.
 */
#include "policy/status/status.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policy/status/feed_print.h"
#include "policy/status/forward_print.h"
#include "resolver/text/printable.h"

#define COLUMN	26		/* of the values, in the lines */

enum item_kind { ITEM_NUMBER, ITEM_TEXT, ITEM_BOOL };

/* One value: section "" is the top level. */
struct item {
	const char *section;
	const char *key;
	enum item_kind kind;
	uint64_t number;
	const char *text;
};

#define MAX_ITEMS ((size_t)REASONS + (size_t)STREAM_COUNTERS + \
	(size_t)FORWARD_COUNTERS + 52 + LOAD_REPORT_SOURCES)

/* Everything that is printed; owns the texts of the items. */
struct view {
	struct item items[MAX_ITEMS];
	size_t count;
	struct status_counters counters;
	char reload_error[STATUS_TEXT];
	char degraded[STATUS_TEXT];
	struct status_forwarding *forwarding;	/* a copy */
	const struct status_policy *policy;
};

static const char *const state_texts[] = {
	[STATUS_STARTING] = "starting",
	[STATUS_READY] = "ready",
	[STATUS_DEGRADED] = "degraded",
	[STATUS_STOPPING] = "stopping",
};

static const char *const mode_texts[] = {
	[STATUS_QUEUE_NONE] = "none",
	[STATUS_QUEUE_NATIVE] = "native",
	[STATUS_QUEUE_XT] = "xt",
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const char *
text_of(const char *const *texts, size_t count, uint32_t value)
{
	return value < count ? texts[value] : "unknown";
}

static void
add_item(struct view *v, const struct item *item)
{
	if (v->count < MAX_ITEMS)
		v->items[v->count++] = *item;
}

static void
add_number(struct view *v, const char *section, const char *key, uint64_t n)
{
	struct item item = { section, key, ITEM_NUMBER, n, NULL };

	add_item(v, &item);
}

static void
add_text(struct view *v, const char *section, const char *key, const char *text)
{
	struct item item = { section, key, ITEM_TEXT, 0, text };

	add_item(v, &item);
}

static void
add_bool(struct view *v, const char *section, const char *key, bool yes)
{
	struct item item = { section, key, ITEM_BOOL, yes, NULL };

	add_item(v, &item);
}

static uint64_t
pid_number(int32_t pid)
{
	return pid > 0 ? (uint64_t)pid : 0;
}

static void
add_general(struct view *v, const struct status_supervisor *s, uint64_t now)
{
	uint32_t state = atomic_load(&s->state);

	add_bool(v, "", "ready",
	    state == STATUS_READY || state == STATUS_DEGRADED);
	add_text(v, "", "state",
	    text_of(state_texts, LENGTH(state_texts), state));
	add_text(v, "", "degraded", v->degraded);
	add_number(v, "", "pid", pid_number(atomic_load(&s->pid)));
	add_number(v, "", "worker_pid",
	    pid_number(atomic_load(&s->worker_pid)));
	add_number(v, "", "uptime_seconds",
	    status_age(atomic_load(&s->started), now));
}

static void
add_table(struct view *v, const struct status_supervisor *s, uint64_t now)
{
	add_number(v, "table", "generation", atomic_load(&s->table_generation));
	add_number(v, "table", "worker_generation",
	    v->counters.oldest_generation);
	add_number(v, "table", "names", atomic_load(&s->table_names));
	add_number(v, "table", "octets", atomic_load(&s->table_octets));
	add_number(v, "table", "age_seconds",
	    status_age(atomic_load(&s->table_loaded), now));
}

/* How long ago the table's files changed. */
static void
add_sources(struct view *v, const struct load_report *load, uint64_t now)
{
	for (size_t i = 0; load != NULL && i < load->source_count; i++) {
		const int64_t changed = load->sources[i].changed;

		add_number(v, "source_age_seconds", load->sources[i].path,
		    status_age(changed > 0 ? (uint64_t)changed : 0, now));
	}
}

static void
add_counters(struct view *v)
{
	const struct status_counters *c = &v->counters;

	add_number(v, "counters", "received", c->received);
	add_number(v, "counters", "answered", c->answered);
	add_number(v, "counters", "passed", c->passed);
	add_number(v, "counters", "refused", c->refused);
	add_number(v, "counters", "dropped", c->dropped);
	add_number(v, "counters", "malformed", c->malformed);
	add_number(v, "counters", "canaries", c->canaries);
	add_number(v, "counters", "verdict_errors", c->verdict_errors);
	for (int i = 0; i < REASONS; i++)
		add_number(v, "reasons", decide_reason_text((enum reason)i),
		    c->reasons[i]);
}

static void
add_stream(struct view *v, const struct status_supervisor *s)
{
	static const char *const keys[STREAM_COUNTERS] = {
		[STREAM_OPEN] = "open",
		[STREAM_ACCEPTED] = "accepted",
		[STREAM_QUESTIONS] = "questions",
		[STREAM_OVER_ALL] = "over_connections",
		[STREAM_OVER_CLIENT] = "over_per_client",
		[STREAM_OVER_RAW] = "over_raw",
		[STREAM_EVICTED] = "evicted",
		[STREAM_IDLE] = "idle",
		[STREAM_SLOW] = "slow",
		[STREAM_UNREAD] = "unread",
		[STREAM_THROTTLED] = "throttled",
		[STREAM_RELAYS] = "relays",
		[STREAM_RAW] = "raw",
		[STREAM_RAW_EXPIRED] = "raw_expired",
		[STREAM_UNREACHABLE] = "unreachable",
	};

	add_number(v, "stream", "intercepted", v->counters.streams);
	for (size_t i = 0; i < STREAM_COUNTERS; i++)
		add_number(v, "stream", keys[i], v->counters.stream[i]);
	add_number(v, "stream", "tracked_ipv4", atomic_load(&s->streams[0]));
	add_number(v, "stream", "tracked_ipv6", atomic_load(&s->streams[1]));
	add_number(v, "stream", "tracked_max", atomic_load(&s->streams_max));
	add_number(v, "stream", "passed_full", atomic_load(&s->streams_passed));
}

static void
add_forward(struct view *v)
{
	static const char *const keys[FORWARD_COUNTERS] = {
		[FORWARD_HELD] = "held",
		[FORWARD_ANSWERED] = "answered",
		[FORWARD_HITS] = "hits",
		[FORWARD_STALE] = "stale",
		[FORWARD_PREFETCHED] = "prefetched",
		[FORWARD_FAILED] = "failed",
		[FORWARD_REFUSED] = "refused",
		[FORWARD_PASSED] = "passed",
		[FORWARD_JOINED] = "joined",
		[FORWARD_ATTEMPTS] = "attempts",
		[FORWARD_MISMATCHED] = "mismatched",
		[FORWARD_MALFORMED] = "malformed",
		[FORWARD_TRUNCATED] = "truncated",
		[FORWARD_LATE] = "late",
		[FORWARD_LOOPS] = "loops",
		[FORWARD_GONE] = "gone",
		[FORWARD_RESCUED] = "rescued",
		[FORWARD_ABANDONED] = "abandoned",
		[FORWARD_TLS_CONNECTIONS] = "tls_connections",
		[FORWARD_TLS_RESUMED] = "tls_resumed",
		[FORWARD_TLS_FAILED] = "tls_failed",
		[FORWARD_TLS_AGAIN] = "tls_again",
		[FORWARD_TLS_UNASKED] = "tls_unasked",
		[FORWARD_TCP_CONNECTIONS] = "tcp_connections",
		[FORWARD_TCP_AGAIN] = "tcp_again",
		[FORWARD_TCP_UNASKED] = "tcp_unasked",
		[FORWARD_EXPRESS] = "express",
	};

	add_number(v, "forward", "questions", v->counters.forwarded);
	for (size_t i = 0; i < FORWARD_COUNTERS; i++)
		add_number(v, "forward", keys[i], v->counters.forward[i] +
		    (i == FORWARD_HITS ? v->counters.cached : 0));
}

static void
add_deaths(struct view *v, const struct status_supervisor *s)
{
	static const char *const keys[STATUS_DEATHS] = {
		[STATUS_DEATH_POISON] = "poison",
		[STATUS_DEATH_HANG] = "hang",
		[STATUS_DEATH_KILLED] = "killed",
		[STATUS_DEATH_FAILED] = "failed",
	};

	for (size_t i = 0; i < STATUS_DEATHS; i++)
		add_number(v, "deaths", keys[i], atomic_load(&s->deaths[i]));
	add_number(v, "poison", "packets", atomic_load(&s->poison_packets));
	add_number(v, "poison", "users", atomic_load(&s->suspects));
}

static void
collect(struct view *v, const struct status_page *page,
    const struct load_report *load)
{
	const struct status_supervisor *s = page->supervisor;
	uint64_t now = (uint64_t)time(NULL);
	bool reload_ok = true;

	memset(v, 0, sizeof(*v));
	status_counters(page, &v->counters);
	status_reload_error(page, &reload_ok, v->reload_error);
	status_degraded(page, v->degraded);
	add_general(v, s, now);
	add_table(v, s, now);
	add_sources(v, load, now);
	add_counters(v);
	add_stream(v, s);
	add_forward(v);
	add_text(v, "queue", "mode", text_of(mode_texts, LENGTH(mode_texts),
	    atomic_load(&s->queue_mode)));
	add_number(v, "queue", "packets", atomic_load(&s->rule_packets));
	add_number(v, "queue", "unseen", v->counters.unseen);
	add_number(v, "queue", "dropped", v->counters.queue_dropped);
	add_number(v, "queue", "over_user_rate", atomic_load(&s->surplus));
	add_number(v, "worker", "threads", page->worker_slots);
	add_number(v, "worker", "restarts", atomic_load(&s->restarts));
	add_deaths(v, s);
	add_bool(v, "reload", "ok", reload_ok);
	add_text(v, "reload", "error", v->reload_error);
	add_number(v, "reload", "count", atomic_load(&s->reload_sequence) / 2);
	add_number(v, "policy_files", "current",
	    atomic_load(&s->rule_files[STATUS_RULES_CURRENT]));
	add_number(v, "policy_files", "kept",
	    atomic_load(&s->rule_files[STATUS_RULES_KEPT]));
	add_number(v, "policy_files", "unloaded",
	    atomic_load(&s->rule_files[STATUS_RULES_UNLOADED]));
	add_number(v, "audit", "records", v->counters.recorded);
	add_number(v, "audit", "lost", v->counters.audit_lost);
}

/* JSON texts must be UTF-8: replaces other octets by '?'. */
static json_t *
json_text(const char *text)
{
	json_t *value = json_string(text);
	char *ascii;

	if (value != NULL)
		return value;
	ascii = strdup(text);
	if (ascii == NULL)
		return NULL;
	for (char *p = ascii; *p != '\0'; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	value = json_string(ascii);
	free(ascii);
	return value;
}

static json_t *
json_of(const struct item *item)
{
	switch (item->kind) {
	case ITEM_TEXT:
		return json_text(item->text);
	case ITEM_BOOL:
		return json_boolean(item->number != 0);
	case ITEM_NUMBER:
		break;
	}
	/* A hostile worker can write anything; JSON's integers are signed. */
	return json_integer((json_int_t)(item->number & INT64_MAX));
}

/* A key may be a path, and a path may contain any octets. */
static int
set_item(json_t *object, const struct item *item)
{
	json_t *key = json_text(item->key);
	int error = key == NULL || json_object_set_new(object,
	    json_string_value(key), json_of(item)) < 0 ? -ENOMEM : 0;

	json_decref(key);
	return error;
}

static int
print_json(const struct view *v, const struct feeds_shown *feeds, FILE *out)
{
	json_t *root = json_object(), *object;
	int error = root == NULL ? -ENOMEM : 0;

	for (size_t i = 0; error == 0 && i < v->count; i++) {
		const struct item *item = &v->items[i];

		object = root;
		if (item->section[0] != '\0') {
			object = json_object_get(root, item->section);
			if (object == NULL && json_object_set_new(root,
			    item->section, json_object()) == 0)
				object = json_object_get(root, item->section);
		}
		error = set_item(object, item);
	}
	if (error == 0)
		error = forward_print_json(v->forwarding, (uint64_t)time(NULL),
		    json_object_get(root, "forward"));
	if (error == 0 && json_object_set_new(root, "policy",
	    policy_status_json(v->policy)) < 0)
		error = -ENOMEM;
	if (error == 0 && feeds != NULL && json_object_set_new(root, "feeds",
	    feeds_shown_json(feeds, (int64_t)time(NULL))) < 0)
		error = -ENOMEM;
	if (error == 0 && (json_dumpf(root, out,
	    JSON_COMPACT | JSON_ENSURE_ASCII) < 0 ||
	    fputc('\n', out) == EOF))
		error = -EIO;
	json_decref(root);
	return error;
}

/* Omits empty texts, and zero counters of long lists. */
static bool
worth_a_line(const struct item *item)
{
	if (item->kind == ITEM_TEXT)
		return item->text[0] != '\0';
	return item->number != 0 || (strcmp(item->section, "reasons") != 0 &&
	    strcmp(item->section, "stream") != 0 &&
	    strcmp(item->section, "forward") != 0);
}

static int
print_lines(const struct view *v, const struct feeds_shown *feeds, FILE *out)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct item *item = &v->items[i];
		int width;

		if (!worth_a_line(item))
			continue;
		width = fprintf(out, "%s%s", item->section,
		    item->section[0] != '\0' ? "." : "");
		width += printable_put(item->key, out);
		fprintf(out, "%*s", width < COLUMN ? COLUMN - width : 1, "");
		if (item->kind == ITEM_TEXT)
			(void)printable_put(item->text, out);
		else if (item->kind == ITEM_BOOL)
			fputs(item->number != 0 ? "yes" : "no", out);
		else
			fprintf(out, "%" PRIu64, item->number);
		fputc('\n', out);
	}
	forward_print(v->forwarding, COLUMN, (uint64_t)time(NULL), out);
	policy_status_print(v->policy, COLUMN, out);
	if (feeds != NULL)
		feeds_shown_print(feeds, COLUMN, (int64_t)time(NULL), out);
	return ferror(out) ? -EIO : 0;
}

int
status_print(const struct status_page *page, const struct load_report *load,
    const struct feeds_shown *feeds, bool json, FILE *out)
{
	struct view view;
	int error;

	collect(&view, page, load);
	view.policy = page->policy;
	view.forwarding = forward_status_read(page->forwarding);
	if (view.forwarding == NULL)
		return -ENOMEM;
	error = json ? print_json(&view, feeds, out) :
	    print_lines(&view, feeds, out);
	free(view.forwarding);
	return error;
}

void
status_log(const struct status_page *page)
{
	char *text = NULL, *line, *rest;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int error;

	if (out == NULL)
		return;
	error = status_print(page, NULL, NULL, false, out);
	if (fclose(out) != 0 || error < 0)
		log_warning("status: cannot be printed: out of memory");
	rest = text;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (line[0] != '\0')
			log_notice("status: %s", line);
	free(text);
}

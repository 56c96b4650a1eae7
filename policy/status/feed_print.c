/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/feed_print.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/feed/text.h"
#include "resolver/text/printable.h"

static const char *const health_words[] = {
	[FEED_HEALTHY] = "current",
	[FEED_WAITS] = "waiting",
	[FEED_STALE] = "stale",
	[FEED_CERTIFICATE] = "certificate",
	[FEED_SHRUNK] = "held",
	[FEED_NOT_KEPT] = "not kept",
};

static void
read_one(struct feed_shown *shown, const char *run_dir,
    const struct load_feed *feed)
{
	shown->name = feed->name;
	shown->stale_after = feed->stale_after;
	(void)!feed_status_read(&shown->report, run_dir, feed->name);
	shown->table_time = feed_status_table_time(feed->table);
}

int
feeds_shown_read(struct feeds_shown *feeds, const struct load_report *load)
{
	*feeds = (struct feeds_shown){
		calloc(load->feed_count + 1, sizeof(*feeds->list)),
		load->feed_count };
	if (feeds->list == NULL) {
		feeds->count = 0;
		return -ENOMEM;
	}
	for (size_t i = 0; i < feeds->count; i++)
		read_one(&feeds->list[i], load->feed_run_dir, &load->feeds[i]);
	return 0;
}

void
feeds_shown_free(struct feeds_shown *feeds)
{
	free(feeds->list);
	*feeds = (struct feeds_shown){ NULL, 0 };
}

static enum feed_health
health_of(const struct feed_shown *f, int64_t now)
{
	return feed_status_health(&f->report, f->table_time, f->stale_after,
	    now);
}

/* Whether the file is of a process that writes it. */
static bool
is_fresh(const struct feed_report *r, int64_t now)
{
	return r->written != 0 && now - r->written <=
	    (int64_t)3 * FEED_STATUS_BEAT_S;
}

/* One line; texts in it were made harmless when they were read. */
static void __attribute__((format(printf, 5, 6)))
line(const struct feed_shown *f, const char *key, int column, FILE *out,
    const char *format, ...)
{
	const int width = fprintf(out, "feed.%s%s%s", f->name,
	    key[0] != '\0' ? "." : "", key);
	va_list arguments;

	(void)fprintf(out, "%*s", width < column ? column - width : 1, "");
	va_start(arguments, format);
	printable_vline(out, format, arguments);
	va_end(arguments);
}

static const char *
since(int64_t then, int64_t now, char text[static FEED_SPAN_TEXT])
{
	return feed_status_span(then > 0 && then < now ? now - then : 0, text);
}

static void
print_connection(const struct feed_shown *f, int column, int64_t now, FILE *out)
{
	const struct feed_report *r = &f->report;
	const struct feed_status *s = &r->status;
	char span[FEED_SPAN_TEXT];

	if (!is_fresh(r, now))
		line(f, "connection", column, out, r->written == 0 ?
		    "unknown: is nfdns-feed running?" :
		    "unknown: nfdns-feed wrote nothing for %s",
		    since(r->written, now, span));
	else if (!r->running)
		line(f, "connection", column, out, "its process starts again");
	else if (s->connected)
		line(f, "connection", column, out, "%.60s for %s", s->peer,
		    since(s->since, now, span));
	else
		line(f, "connection", column, out, "none for %s, attempt %"
		    PRIu64, since(s->since, now, span), s->attempts);
	if (s->last_life != 0)
		line(f, "life", column, out, "%s ago",
		    since(s->last_life, now, span));
}

static void
print_table(const struct feed_shown *f, int column, int64_t now, FILE *out)
{
	const struct feed_kept *k = &f->report.kept;
	char span[FEED_SPAN_TEXT];

	if (k->time != 0)
		line(f, "table", column, out, "%" PRIu64 " names, %s old: %"
		    PRIu64 " added, %" PRIu64 " removed, %" PRIu64 " changed",
		    k->names, since(k->time, now, span), k->added, k->removed,
		    k->changed);
	else if (f->table_time != 0)
		line(f, "table", column, out, "current %s ago",
		    since(f->table_time, now, span));
	if (k->version[0] != '\0')
		line(f, "version", column, out, "%.50s",
		    k->version);
	if (k->held_since != 0)
		line(f, "held", column, out, "%" PRIu64 " names for %s: nfdns "
		    "reload --force uses it", k->held_names,
		    since(k->held_since, now, span));
}

static void
print_reconnects(const struct feed_shown *f, int column, FILE *out)
{
	const struct feed_status *s = &f->report.status;
	char text[FEED_TEXT];
	uint64_t sum = 0;
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < FEED_CAUSES && n < sizeof(text); i++) {
		sum += s->reconnects[i];
		if (s->reconnects[i] != 0)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    "%s%s %" PRIu64, n == 0 ? ": " : ", ",
			    feed_cause_name((enum feed_cause)i),
			    s->reconnects[i]);
	}
	line(f, "reconnects", column, out, "%" PRIu64 "%s", sum, text);
}

static void
print_one(const struct feed_shown *f, int column, int64_t now, FILE *out)
{
	const struct feed_status *s = &f->report.status;
	char span[FEED_SPAN_TEXT];

	line(f, "", column, out, "%s", health_words[health_of(f, now)]);
	print_connection(f, column, now, out);
	print_table(f, column, now, out);
	if (f->report.written == 0)
		return;
	line(f, "pushes", column, out, "%" PRIu64 ", %" PRIu64 " the same, %"
	    PRIu64 " refused", s->pushes, s->same, s->nacks);
	print_reconnects(f, column, out);
	if (s->cert_end != 0)
		line(f, "certificate", column, out, s->cert_end > now ?
		    "ends in %s" : "has ended",
		    feed_status_span(s->cert_end > now ? s->cert_end - now : 0,
		    span));
	if (s->error[0] != '\0')
		line(f, "error", column, out, "%s", s->error);
	if (f->report.kept.error[0] != '\0')
		line(f, "keep_error", column, out, "%s", f->report.kept.error);
}

void
feeds_shown_print(const struct feeds_shown *feeds, int column, int64_t now,
    FILE *out)
{
	for (size_t i = 0; i < feeds->count; i++)
		print_one(&feeds->list[i], column, now, out);
}

static int
put(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) < 0 ? -ENOMEM : 0;
}

static json_t *
object_of(const struct feed_shown *f, int64_t now)
{
	const struct feed_status *s = &f->report.status;
	const int64_t current = feed_status_current(&f->report, f->table_time,
	    now);
	json_t *object = feed_status_json(&f->report);
	int error = object == NULL ? -ENOMEM : 0;

	if (error == 0)
		error = put(object, "name", json_string(f->name));
	if (error == 0)
		error = put(object, "health",
		    json_string(health_words[health_of(f, now)]));
	if (error == 0)
		error = put(object, "running", json_boolean(f->report.running &&
		    is_fresh(&f->report, now)));
	if (error == 0)
		error = put(object, "age_seconds", f->table_time == 0 ?
		    json_null() : json_integer(now - current));
	if (error == 0)
		error = put(object, "certificate_days", s->cert_end == 0 ?
		    json_null() : json_integer((s->cert_end - now) / 86400));
	if (error == 0)
		return object;
	json_decref(object);
	return NULL;
}

json_t *
feeds_shown_json(const struct feeds_shown *feeds, int64_t now)
{
	json_t *array = json_array();

	for (size_t i = 0; array != NULL && i < feeds->count; i++)
		if (json_array_append_new(array,
		    object_of(&feeds->list[i], now)) < 0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

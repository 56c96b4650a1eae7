/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/feed_status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/feed/text.h"
#include "resolver/text/json_write.h"
#include "resolver/text/printable.h"

#define COLUMN	26		/* of the values, in the lines */

static const char *const health_words[] = {
	[FEED_HEALTHY] = "current",
	[FEED_WAITS] = "waiting",
	[FEED_STALE] = "stale",
	[FEED_CERTIFICATE] = "certificate",
	[FEED_NOT_KEPT] = "not kept",
};

static void
read_one(struct feed_shown *shown, const char *run_dir,
    const struct mesh_source *source)
{
	shown->name = source->feed;
	shown->stale_after = source->stale_after;
	(void)!feed_status_read(&shown->report, run_dir, source->feed);
	shown->table_time = feed_status_table_time(source->path);
}

int
feeds_shown_read(struct feeds_shown *feeds, const struct config *config)
{
	const struct mesh *mesh = &config->mesh;

	*feeds = (struct feeds_shown){
		calloc(mesh->source_count + 1, sizeof(*feeds->list)), 0 };
	if (feeds->list == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < mesh->source_count; i++)
		if (mesh->sources[i].feed != NULL)
			read_one(&feeds->list[feeds->count++],
			    config->feed_run_dir, &mesh->sources[i]);
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

void
print_key(FILE *out, const char *format, ...)
{
	char *key = NULL;
	va_list arguments;
	int width;

	va_start(arguments, format);
	if (vasprintf(&key, format, arguments) < 0)
		key = NULL;
	va_end(arguments);
	width = printable_put(key != NULL ? key : "", out);
	(void)fprintf(out, "%*s", width < COLUMN ? COLUMN - width : 1, "");
	free(key);
}

/* One line; texts in it were made harmless when they were read. */
static void __attribute__((format(printf, 4, 5)))
line(const struct feed_shown *f, const char *key, FILE *out,
    const char *format, ...)
{
	va_list arguments;

	print_key(out, "feed.%s%s%s", f->name, key[0] != '\0' ? "." : "", key);
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
print_connection(const struct feed_shown *f, int64_t now, FILE *out)
{
	const struct feed_report *r = &f->report;
	const struct feed_status *s = &r->status;
	char span[FEED_SPAN_TEXT];

	if (!is_fresh(r, now))
		line(f, "connection", out, r->written == 0 ?
		    "unknown: is nfdns-feed running?" :
		    "unknown: nfdns-feed wrote nothing for %s",
		    since(r->written, now, span));
	else if (!r->running)
		line(f, "connection", out, "its process starts again");
	else if (s->connected)
		line(f, "connection", out, "%.60s for %s", s->peer,
		    since(s->since, now, span));
	else
		line(f, "connection", out, "none for %s, attempt %"
		    PRIu64, since(s->since, now, span), s->attempts);
	if (s->last_life != 0)
		line(f, "life", out, "%s ago",
		    since(s->last_life, now, span));
}

static void
print_table(const struct feed_shown *f, int64_t now, FILE *out)
{
	const struct feed_kept *k = &f->report.kept;
	char span[FEED_SPAN_TEXT];

	if (k->time != 0)
		line(f, "table", out, "%" PRIu64 " names, %s old", k->names,
		    since(k->time, now, span));
	else if (f->table_time != 0)
		line(f, "table", out, "current %s ago",
		    since(f->table_time, now, span));
	if (k->version[0] != '\0')
		line(f, "version", out, "%.50s",
		    k->version);
}

static void
print_reconnects(const struct feed_shown *f, FILE *out)
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
	line(f, "reconnects", out, "%" PRIu64 "%s", sum, text);
}

static void
print_one(const struct feed_shown *f, int64_t now, FILE *out)
{
	const struct feed_status *s = &f->report.status;
	char span[FEED_SPAN_TEXT];

	line(f, "", out, "%s", health_words[health_of(f, now)]);
	print_connection(f, now, out);
	print_table(f, now, out);
	if (f->report.written == 0)
		return;
	line(f, "pushes", out, "%" PRIu64 ", %" PRIu64 " the same, %"
	    PRIu64 " refused", s->pushes, s->same, s->nacks);
	print_reconnects(f, out);
	if (s->cert_end != 0)
		line(f, "certificate", out, s->cert_end > now ?
		    "ends in %s" : "has ended",
		    feed_status_span(s->cert_end > now ? s->cert_end - now : 0,
		    span));
	if (s->error[0] != '\0')
		line(f, "error", out, "%s", s->error);
	if (f->report.kept.error[0] != '\0')
		line(f, "keep_error", out, "%s", f->report.kept.error);
}

void
feeds_shown_print(const struct feeds_shown *feeds, int64_t now,
    FILE *out)
{
	for (size_t i = 0; i < feeds->count; i++)
		print_one(&feeds->list[i], now, out);
}

static void
write_one(const struct feed_shown *f, int64_t now, struct json_write *w)
{
	const struct feed_status *s = &f->report.status;
	const int64_t current = feed_status_current(&f->report, f->table_time,
	    now);
	const bool running = f->report.running && is_fresh(&f->report, now);

	json_write_open(w, NULL, '{');
	feed_status_put(&f->report, running, w);
	json_write_text(w, "name", f->name);
	json_write_text(w, "health", health_words[health_of(f, now)]);
	if (f->table_time == 0)
		json_write_text(w, "age_seconds", NULL);
	else
		json_write_integer(w, "age_seconds", now - current);
	if (s->cert_end == 0)
		json_write_text(w, "certificate_days", NULL);
	else
		json_write_integer(w, "certificate_days",
		    (s->cert_end - now) / 86400);
	json_write_close(w, '}');
}

void
feeds_shown_write(const struct feeds_shown *feeds, int64_t now,
    struct json_write *w)
{
	json_write_open(w, "feeds", '[');
	for (size_t i = 0; i < feeds->count; i++)
		write_one(&feeds->list[i], now, w);
	json_write_close(w, ']');
}

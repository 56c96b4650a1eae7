/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file is one JSON object.  One table of fields serves both the writer and
 * the reader.
 */
#include "policy/status/feed_status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/feed/text.h"
#include "resolver/replace.h"
#include "resolver/small_file.h"
#include "resolver/text/json_tree.h"
#include "resolver/text/json_write.h"
#include "resolver/text/printable.h"

#define SEEN	".seen"			/* beside NAME.table */

enum field_kind { FIELD_TEXT, FIELD_NUMBER, FIELD_TIME, FIELD_BOOL };

/* One value; numbers are uint64_t, times int64_t. */
struct field {
	const char *key;
	enum field_kind kind;
	size_t offset, size;
};

#define FIELD(key, kind, member) { key, kind, \
	offsetof(struct feed_report, member), \
	sizeof(((struct feed_report *)NULL)->member) }

static const struct field fields[] = {
	FIELD("type", FIELD_TEXT, type),
	FIELD("written", FIELD_TIME, written),
	FIELD("running", FIELD_BOOL, running),
	FIELD("restarts", FIELD_NUMBER, restarts),
	FIELD("current", FIELD_TIME, current),
	FIELD("connected", FIELD_BOOL, status.connected),
	FIELD("since", FIELD_TIME, status.since),
	FIELD("last_life", FIELD_TIME, status.last_life),
	FIELD("attempted", FIELD_TIME, status.attempted),
	FIELD("attempts", FIELD_NUMBER, status.attempts),
	FIELD("peer", FIELD_TEXT, status.peer),
	FIELD("error", FIELD_TEXT, status.error),
	FIELD("version", FIELD_TEXT, kept.version),
	FIELD("pushes", FIELD_NUMBER, status.pushes),
	FIELD("same", FIELD_NUMBER, status.same),
	FIELD("nacks", FIELD_NUMBER, status.nacks),
	FIELD("reconnects_planned", FIELD_NUMBER,
	    status.reconnects[FEED_CAUSE_PLANNED]),
	FIELD("reconnects_connect", FIELD_NUMBER,
	    status.reconnects[FEED_CAUSE_CONNECT]),
	FIELD("reconnects_tls", FIELD_NUMBER,
	    status.reconnects[FEED_CAUSE_TLS]),
	FIELD("reconnects_reset", FIELD_NUMBER,
	    status.reconnects[FEED_CAUSE_RESET]),
	FIELD("reconnects_timeout", FIELD_NUMBER,
	    status.reconnects[FEED_CAUSE_TIMEOUT]),
	FIELD("reconnects_status", FIELD_NUMBER,
	    status.reconnects[FEED_CAUSE_STATUS]),
	FIELD("reconnects_protocol", FIELD_NUMBER,
	    status.reconnects[FEED_CAUSE_PROTOCOL]),
	FIELD("reconnects_content", FIELD_NUMBER,
	    status.reconnects[FEED_CAUSE_CONTENT]),
	FIELD("cert_begin", FIELD_TIME, status.cert_begin),
	FIELD("cert_end", FIELD_TIME, status.cert_end),
	FIELD("table_time", FIELD_TIME, kept.time),
	FIELD("table_names", FIELD_NUMBER, kept.names),
	FIELD("table_octets", FIELD_NUMBER, kept.octets),
	FIELD("keep_error", FIELD_TEXT, kept.error),
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

void
feed_status_put(const struct feed_report *report, bool running,
    struct json_write *w)
{
	struct feed_report shown = *report;

	shown.running = running;
	for (size_t i = 0; i < FIELDS; i++) {
		const char *at = (const char *)&shown + fields[i].offset;
		char text[FEED_TEXT];
		uint64_t number = 0;

		switch (fields[i].kind) {
		case FIELD_TEXT:
			/* It may be of memory that another process writes. */
			(void)printable_text(text, sizeof(text), at, strnlen(at,
			    fields[i].size));
			json_write_text(w, fields[i].key, text);
			break;
		case FIELD_BOOL:
			json_write_bool(w, fields[i].key, *(const bool *)at);
			break;
		case FIELD_NUMBER:
		case FIELD_TIME:
			memcpy(&number, at, sizeof(number));
			json_write_number(w, fields[i].key, number);
			break;
		}
	}
}

static int
path_of(char path[static PATH_MAX], const char *directory, const char *name)
{
	int n = snprintf(path, PATH_MAX, "%s/%s.json", directory, name);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int
write_object(FILE *out, const struct feed_report *report)
{
	struct json_write w = { .out = out };

	if (out == NULL)
		return -errno;
	json_write_open(&w, NULL, '{');
	feed_status_put(report, report->running, &w);
	json_write_close(&w, '}');
	return json_write_end(&w);
}

int
feed_status_write(const struct feed_report *report, const char *directory,
    const char *name)
{
	char path[PATH_MAX];
	struct replace file;
	int error = path_of(path, directory, name);

	if (error == 0)
		error = replace_begin(&file, AT_FDCWD, path, 0644);
	if (error < 0)
		return error;
	return replace_end(&file, REPLACE_QUICKLY,
	    write_object(replace_stream(&file), report));
}

/* False if the value is not of the field's kind. */
static bool
take_field(const struct field *field, const json_t *node,
    struct feed_report *report)
{
	char *at = (char *)report + field->offset;
	const char *text;
	long long number = 0;
	int64_t value;

	switch (field->kind) {
	case FIELD_TEXT:
		text = json_string_value(node);
		if (text == NULL)
			return false;
		(void)printable_text(at, field->size, text, strlen(text));
		return true;
	case FIELD_BOOL:
		*(bool *)at = json_is_true(node);
		return *(bool *)at || json_is_false(node);
	case FIELD_NUMBER:
	case FIELD_TIME:
		break;
	}
	if (!json_tree_integer(node, 0, INT64_MAX, &number))
		return false;
	value = number;
	memcpy(at, &value, sizeof(value));
	return true;
}

/* Every field must be there; what a later version adds is ignored. */
static int
take_object(const json_t *root, struct feed_report *report)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (!take_field(&fields[i], json_object_get(root,
		    fields[i].key), report))
			return -EPROTO;
	return 0;
}

int
feed_status_read(struct feed_report *report, const char *directory,
    const char *name)
{
	struct small_file file;
	char path[PATH_MAX];
	int error = path_of(path, directory, name);

	memset(report, 0, sizeof(*report));
	if (error < 0)
		return error;
	error = small_file_read_at(AT_FDCWD, path, O_NOFOLLOW, FEED_STATUS_MAX,
	    &file);
	if (error == 0) {
		const struct json_range whole = { .text = file.octets,
		    .length = file.length, .line = 1 };
		struct json_tree tree = JSON_TREE_INIT;
		const json_t *root;
		const char *why;
		unsigned int line;

		memset(report, 0, sizeof(*report));
		root = json_tree_take(&tree, &whole, &error, &why, &line);
		if (root != NULL)
			error = take_object(root, report);
		else if (error != -ENOMEM)
			error = -EPROTO;
		json_tree_free(&tree);
		if (error < 0)
			memset(report, 0, sizeof(*report));
	}
	small_file_wipe(&file);
	return error == -ELOOP || error == -EISDIR || error == -EINVAL ||
	    error == -EFBIG || error == -EILSEQ ? -EPROTO : error;
}

int
feed_status_seen(const char *state_dir, const char *name, int64_t current)
{
	const struct timespec times[2] = { { current, 0 }, { current, 0 } };
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s" SEEN, state_dir, name);
	int fd, error = 0;

	if (n < 0 || n >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK, 0644);
	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0644) < 0 || futimens(fd, times) < 0)
		error = -errno;
	(void)close(fd);
	return error;
}

int64_t
feed_status_table_time(const char *table)
{
	const size_t ending = strlen(".table"), length = strlen(table);
	char path[PATH_MAX];
	struct stat st, seen;
	int n;

	if (length <= ending || lstat(table, &st) < 0)
		return 0;
	n = snprintf(path, sizeof(path), "%.*s" SEEN, (int)(length - ending),
	    table);
	if (n < 0 || n >= PATH_MAX || lstat(path, &seen) < 0 ||
	    seen.st_mtime < st.st_mtime)
		return (int64_t)st.st_mtime;
	return (int64_t)seen.st_mtime;
}

int64_t
feed_status_current(const struct feed_report *report, int64_t table_time,
    int64_t now)
{
	int64_t current = report->current > table_time ? report->current :
	    table_time;

	/* The file's owner can set any time. */
	if (current < 0)
		current = 0;
	/* Whoever is ahead of our clock is as current as can be. */
	return current < now ? current : now;
}

enum feed_health
feed_status_health(const struct feed_report *report, int64_t table_time,
    uint32_t stale_after, int64_t now)
{
	const struct feed_status *s = &report->status;

	if (table_time == 0)
		return FEED_WAITS;
	if (now - feed_status_current(report, table_time, now) >
	    (int64_t)stale_after)
		return FEED_STALE;
	if (report->kept.error[0] != '\0')
		return FEED_NOT_KEPT;
	if (s->cert_end != 0 && s->cert_end > s->cert_begin &&
	    s->cert_end - now < (s->cert_end - s->cert_begin) / 4)
		return FEED_CERTIFICATE;
	return FEED_HEALTHY;
}

const char *
feed_status_span(int64_t seconds, char text[static FEED_SPAN_TEXT])
{
	static const struct {
		int64_t seconds;
		const char *name;
	} units[] = { { 86400, "days" }, { 3600, "hours" }, { 60, "minutes" },
		{ 1, "s" } };
	size_t i = 0;

	/* From two of a unit on, so that no name has a singular. */
	while (units[i].seconds > 1 && seconds < 2 * units[i].seconds)
		i++;
	(void)snprintf(text, FEED_SPAN_TEXT, "%lld %s",
	    (long long)(seconds / units[i].seconds), units[i].name);
	return text;
}

const char *
feed_status_text(enum feed_health health, const char *name,
    const struct feed_report *report, uint32_t stale_after, int64_t now,
    char text[static FEED_HEALTH_TEXT])
{
	const struct feed_status *s = &report->status;
	const char *why = s->error[0] != '\0' ? s->error :
	    report->written == 0 || !report->running ?
	    "is nfdns-feed running?" : "there is no sign of life";
	char span[FEED_SPAN_TEXT];

	switch (health) {
	case FEED_HEALTHY:
		return NULL;
	case FEED_WAITS:
		(void)snprintf(text, FEED_HEALTH_TEXT,
		    "feed %s waits for its first table: %.100s", name, why);
		break;
	case FEED_STALE:
		(void)snprintf(text, FEED_HEALTH_TEXT,
		    "feed %s is stale, without a sign of life for more than %s:"
		    " %.60s", name, feed_status_span(stale_after, span), why);
		break;
	case FEED_NOT_KEPT:
		(void)snprintf(text, FEED_HEALTH_TEXT, "feed %s: %.90s: the "
		    "table in use grows old: make room there, or make it writable",
		    name, report->kept.error);
		break;
	case FEED_CERTIFICATE:
		if (s->cert_end <= now)
			(void)snprintf(text, FEED_HEALTH_TEXT, "feed %s: its "
			    "certificate has ended: renew it", name);
		else
			(void)snprintf(text, FEED_HEALTH_TEXT, "feed %s: its "
			    "certificate ends in %s and was not renewed", name,
			    feed_status_span(s->cert_end - now,
			    span));
		break;
	}
	return text;
}

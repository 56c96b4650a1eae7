/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/feed/http2.h"
#include "resolver/feed/text.h"
#include "resolver/feed/xds_session.h"
#include "resolver/sources/name_table.h"
#include "resolver/text/printable.h"

/* What becomes of a response: offered to the host, and accepted or refused. */

enum xds_table {
	XDS_TABLE_ACCEPTED,		/* and it is kept */
	XDS_TABLE_REFUSED,		/* a NACK was sent */
	XDS_TABLE_NONE,			/* there was none in the response */
	XDS_TABLE_POSTPONED,		/* accepted, but not kept: offered again */
};

static void
forget(struct xds_again *again)
{
	free(again->message);
	*again = (struct xds_again){ .message = NULL };
}

/* The stream's message outlives its answer. */
static void
postpone(struct xds_session *x, struct ads *a, const struct feed_table *table,
    monotime_t now)
{
	struct xds_again *again = &x->again;

	forget(again);
	again->message = ads_take(a);
	again->table = *table;
	again->part = *table->parts;
	again->table.parts = &again->part;
	(void)snprintf(again->version, sizeof(again->version), "%s",
	    table->version);
	again->table.version = again->version;
	again->delay_ms = XDS_AGAIN_MS;
	again->when = monotime_add_ms(now, XDS_AGAIN_MS);
}

static enum xds_table
offer(struct xds_session *x, const struct feed_table *table,
    char why[static FEED_TEXT])
{
	enum feed_verdict verdict = x->host->offer(x->host->arg, table, why);

	x->host->status->same += verdict == FEED_SAME;
	return verdict == FEED_FAILED ? XDS_TABLE_POSTPONED :
	    XDS_TABLE_ACCEPTED;
}

/* A response's table, and what it borrows. */
struct taken {
	struct feed_table table;
	struct iovec part;
};

/*
 * Its version is the status's from now on.  NULL, or why there is no table that can
 * be used: one line in "why", or static.
 */
static const char *
table_of(struct xds_session *x, const struct discovery_response *response,
    struct taken *taken, char why[static FEED_TEXT])
{
	struct feed_status *status = x->host->status;
	struct name_table_walk walk = name_table_walk_over(
	    response->table.text, response->table.length);
	struct name_table_entry entry;

	(void)printable_text(status->version, sizeof(status->version),
	    response->version.text, response->version.length);
	taken->part = (struct iovec){ (void *)(uintptr_t)response->table.text,
		response->table.length };
	taken->table = (struct feed_table){ .format = "nds-proto",
		.version = status->version, .parts = &taken->part,
		.part_count = 1, .length = taken->part.iov_len };
	if (response->broken > 0)
		return "a resource is not a google.protobuf.Any";
	if (response->tables == 0)
		return "no resource is an istio.networking.nds.v1.NameTable";
	while (name_table_next(&walk, &entry))
		taken->table.names += entry.fault == NULL &&
		    entry.host.length > 0;
	if (!name_table_failed(&walk))
		return NULL;
	(void)snprintf(why, FEED_TEXT, "it is not a name table, from octet "
	    "%zu on", name_table_offset(&walk));
	return why;
}

/*
 * Answers the stream's response.  "why" is filled in if it is refused or cannot be
 * kept.  What cannot be kept is accepted: it or a newer one is kept later, whatever
 * comes between.
 */
static enum xds_table
xds_table_take(struct xds_session *x, struct ads *a, char why[static FEED_TEXT],
    monotime_t now)
{
	enum xds_table result;
	const char *fault;
	struct taken taken;

	*why = '\0';
	if (a->response.tables + a->response.others + a->response.broken == 0) {
		ads_answer(a, NULL);
		return XDS_TABLE_NONE;
	}
	x->host->status->pushes++;
	fault = table_of(x, &a->response, &taken, why);
	if (fault != NULL) {
		if (fault != why)
			(void)snprintf(why, FEED_TEXT, "%s", fault);
		result = XDS_TABLE_REFUSED;
	} else {
		result = offer(x, &taken.table, why);
	}
	ads_answer(a, fault);
	/* There is nothing wrong with it: it is ours to keep. */
	if (result == XDS_TABLE_POSTPONED)
		postpone(x, a, &taken.table, now);
	else if (result != XDS_TABLE_REFUSED)
		forget(&x->again);
	return result;
}

/* Offers what was accepted and is not kept, now or never, and forgets it. */
static void
xds_table_last(struct xds_session *session)
{
	struct xds_again *again = &session->again;
	char why[FEED_TEXT];

	if (again->message != NULL)
		(void)session->host->offer(session->host->arg, &again->table,
		    why);
	forget(again);
}

/*
 * Offers what could not be kept, if it is time; XDS_TABLE_NONE: it is not.
 * Its response was answered long ago.
 */
static enum xds_table
xds_table_again(struct xds_session *session, char why[static FEED_TEXT],
    monotime_t now)
{
	struct xds_again *again = &session->again;
	enum xds_table result;

	if (again->message == NULL || !monotime_is_past(now, again->when))
		return XDS_TABLE_NONE;
	result = offer(session, &again->table, why);
	if (result != XDS_TABLE_POSTPONED) {
		forget(again);
		return result;
	}
	again->delay_ms = again->delay_ms * 2 > XDS_AGAIN_MOST_MS ?
	    XDS_AGAIN_MOST_MS : again->delay_ms * 2;
	again->when = monotime_add_ms(now, again->delay_ms);
	return result;
}

/* splitmix64: jitter need not be secret. */
static uint64_t
next_random(struct xds_session *x)
{
	uint64_t z = x->random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void __attribute__((format(printf, 3, 4)))
report(const struct xds_session *x, enum feed_level level,
    const char *format, ...)
{
	char text[2 * FEED_TEXT];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	x->host->report(x->host->arg, level, text);
}

void
xds_session_init(struct xds_session *session, const struct feed_config *config,
    const struct feed_host *host, uint64_t seed, monotime_t now)
{
	*session = (struct xds_session){ .config = config, .host = host,
		.retry = now, .refused_ms = XDS_REFUSED_MS,
		.ping_ms = KEEPALIVE_INTERVAL_MS, .random = seed };
	host->status->since = realtime_s();
	if (config->ca)
		ca_init(&session->ca, config, host, now);
}

void
xds_session_end(struct xds_session *session)
{
	/* It was accepted. */
	xds_table_last(session);
	ca_end(&session->ca);
	ads_free(session->next);
	ads_free(session->current);
	session->next = session->current = NULL;
}

static void
set_connected(struct xds_session *x)
{
	struct feed_status *status = x->host->status;
	bool connected = x->current != NULL && x->current->accepted &&
	    link_ended(x->current->link) == NULL;

	if (connected != status->connected) {
		status->connected = connected;
		status->since = realtime_s();
		x->changed = true;
	}
}

static void
set_resync(struct xds_session *x, monotime_t now)
{
	x->resync = monotime_add_ms(now, XDS_RESYNC_MS -
	    backoff_spread(XDS_RESYNC_MS / 10, next_random(x)));
}

/*
 * The server has said why it refuses this machine.  An error code of HTTP/2 that
 * stands for such a status (INADEQUATE_SECURITY) is somebody's on the way.
 */
static bool
is_refusal(const struct link_end *end)
{
	return end->cause == FEED_CAUSE_STATUS &&
	    grpc_status_is_lasting(end->status);
}

static int64_t
delay_after(struct xds_session *x, const struct link_end *end, bool steady)
{
	uint64_t random = next_random(x);

	if (end->torn && !x->gave_time)
		return XDS_TORN_MS;
	if (end->cause == FEED_CAUSE_PLANNED && steady)
		return backoff_planned_ms(random);
	if (is_refusal(end))
		return backoff_slow_ms(&x->backoff, random);
	return backoff_next_ms(&x->backoff, random);
}

/* What the end of a stream teaches for the next one. */
static void
learn(struct xds_session *x, const struct ads *a, const struct link_end *end)
{
	if (end->too_many_pings)
		x->ping_ms = keepalive_slower(x->ping_ms);
	/* Once; then it is not in the middle of a change, but wrong. */
	x->gave_time = end->torn;
	/* The next attempt is the token's, and the one after it the pair's. */
	x->refused = end->refused && x->config->token != NULL;
	/* An address that lets us in and then is of no use: try another. */
	if (a->asked && !a->answered)
		x->turn++;
}

static void
note_certificate(struct xds_session *x, const struct ads *a)
{
	struct link_certificate certificate = link_certificate(a->link);
	struct feed_status *status = x->host->status;

	if (status->cert_begin == certificate.begin &&
	    status->cert_end == certificate.end)
		return;
	status->cert_begin = certificate.begin;
	status->cert_end = certificate.end;
	x->changed = true;
}

static void
note_error(struct xds_session *x, const struct link_end *end, int64_t delay_ms)
{
	struct feed_status *status = x->host->status;
	enum feed_level level = FEED_NOTICE;

	if (end->cause == FEED_CAUSE_PLANNED) {
		report(x, FEED_DEBUG, "%s; connecting again in %.1f s",
		    end->why, (double)delay_ms / 1000);
		return;
	}
	if (end->cause == FEED_CAUSE_TLS || is_refusal(end))
		level = FEED_ERROR;
	/* The same again, while it lasts, is no news. */
	if (strcmp(status->error, end->why) == 0)
		level = FEED_DEBUG;
	(void)snprintf(status->error, sizeof(status->error), "%s", end->why);
	report(x, level, "%s: %s; connecting again in %.1f s",
	    feed_cause_name(end->cause), end->why, (double)delay_ms / 1000);
}

/* The current stream has lived long enough to be a success. */
static void
watch_steady(struct xds_session *x, monotime_t now)
{
	if (x->is_steady || !monotime_is_set(x->steady) ||
	    !monotime_is_past(now, x->steady))
		return;
	x->is_steady = true;
	backoff_reset(&x->backoff);
}

/* "next" takes the place of "current", which may have ended or not. */
static void
swap(struct xds_session *x, monotime_t now)
{
	ads_free(x->current);
	x->current = x->next;
	x->next = NULL;
	x->current_fds = x->next_fds;
	x->next_fds = 0;
	x->replace = x->steady = MONOTIME_NEVER;
	x->is_steady = false;
	set_resync(x, now);
}

static void
end_current(struct xds_session *x, monotime_t now)
{
	const struct link_end end = *link_ended(x->current->link);
	int64_t delay_ms = 0;

	note_certificate(x, x->current);
	x->host->status->reconnects[end.cause]++;
	x->changed = true;
	if (x->next != NULL) {
		report(x, FEED_DEBUG, "%s: %s; its successor is on its way",
		    feed_cause_name(end.cause), end.why);
		learn(x, x->current, &end);
		swap(x, now);
		return;
	}
	delay_ms = delay_after(x, &end, x->is_steady);
	learn(x, x->current, &end);
	note_error(x, &end, delay_ms);
	ads_free(x->current);
	x->current = NULL;
	x->current_fds = 0;
	x->replace = x->steady = MONOTIME_NEVER;
	x->is_steady = false;
	x->retry = monotime_add_ms(now, delay_ms);
}

/* The old stream goes on; the next attempt to replace it is later. */
static void
end_next(struct xds_session *x, monotime_t now)
{
	const struct link_end end = *link_ended(x->next->link);
	int64_t delay_ms = delay_after(x, &end, false);

	note_certificate(x, x->next);
	learn(x, x->next, &end);
	note_error(x, &end, delay_ms);
	ads_free(x->next);
	x->next = NULL;
	x->next_fds = 0;
	x->replace = monotime_add_ms(now, delay_ms);
	x->changed = true;
}

static void
accept_table(struct xds_session *x, struct ads *a, monotime_t now)
{
	struct feed_status *status = x->host->status;

	if (!a->accepted) {
		report(x, status->connected ? FEED_DEBUG : FEED_NOTICE,
		    "connected to %s, table %s received", link_peer(a->link),
		    status->version);
		note_certificate(x, a);
	}
	a->accepted = true;
	a->postponed = false;
	if (!monotime_is_set(x->steady))
		x->steady = monotime_add_ms(now, XDS_STEADY_MS);
	x->refused_ms = XDS_REFUSED_MS;
	x->turn = 0;
	x->gave_time = x->refused = false;
	*status->error = '\0';
}

static void
refuse_table(struct xds_session *x, const char *why, monotime_t now)
{
	struct feed_status *status = x->host->status;
	char error[FEED_TEXT];

	status->nacks++;
	(void)snprintf(error, sizeof(error), "a table was refused: %.200s",
	    why);
	/* A server may repeat it as fast as it likes. */
	report(x, strcmp(error, status->error) == 0 ? FEED_DEBUG : FEED_ERROR,
	    "the table %.100s was refused, and the one before stays in use: %s",
	    status->version, why);
	(void)snprintf(status->error, sizeof(status->error), "%s", error);
	if (monotime_is_set(x->replace))
		return;
	x->replace = monotime_add_ms(now, x->refused_ms / 2 +
	    backoff_spread(x->refused_ms / 2, next_random(x)));
	x->refused_ms = x->refused_ms * 2 > XDS_REFUSED_MOST_MS ?
	    XDS_REFUSED_MOST_MS : x->refused_ms * 2;
}

static void
take_result(struct xds_session *x, struct ads *a, enum xds_table result,
    const char *why, monotime_t now)
{
	switch (result) {
	case XDS_TABLE_ACCEPTED:
		accept_table(x, a, now);
		break;
	case XDS_TABLE_REFUSED:
		a->accepted = a->postponed = false;
		refuse_table(x, why, now);
		break;
	case XDS_TABLE_NONE:
		report(x, FEED_NOTICE, "the server's answer has no table; the "
		    "one before stays in use");
		break;
	case XDS_TABLE_POSTPONED:
		a->accepted = false;
		a->postponed = true;
		/* The host has said it, once for as long as it lasts. */
		(void)snprintf(x->host->status->error, FEED_TEXT, "%s", why);
		report(x, FEED_DEBUG, "%s", why);
		break;
	}
}

/* A table that was to be offered once more. */
static void
take_again(struct xds_session *x, monotime_t now)
{
	char why[FEED_TEXT];
	enum xds_table result = xds_table_again(x, why, now);

	/* The stream may be another one, or have brought another table since. */
	if (result != XDS_TABLE_NONE && x->current != NULL &&
	    x->current->postponed)
		take_result(x, x->current, result, why, now);
}

/* ads.take */
static void
take_response(void *arg, struct ads *a, monotime_t now)
{
	struct xds_session *x = arg;
	char why[FEED_TEXT];

	if (a == x->next) {
		/* The first answer of "next": make-before-break ends here. */
		report(x, FEED_DEBUG, "the new connection has answered: %s",
		    link_peer(x->next->link));
		x->host->status->reconnects[FEED_CAUSE_PLANNED]++;
		*x->host->status->error = '\0';
		swap(x, now);
	}
	x->changed = true;
	/* The host keeps it with the table, as where that came from. */
	(void)snprintf(x->host->status->peer, FEED_TEXT, "%s",
	    link_peer(a->link));
	take_result(x, a, xds_table_take(x, a, why, now), why, now);
}

/* A stream of its own link; NULL: no memory. */
static struct ads *
start_stream(struct xds_session *x, monotime_t now)
{
	struct tls_options tls;
	struct link_options options = link_options_of(x->config, &tls,
	    DISCOVERY_PATH);
	struct feed_status *status = x->host->status;
	struct ads *stream;

	options.ping_ms = x->ping_ms;
	options.turn = x->turn;
	options.gave_time = x->gave_time;
	tls.refused = x->refused;
	node_machine_read(&x->config->node, &x->machine);
	status->attempts++;
	status->attempted = realtime_s();
	x->changed = true;
	stream = ads_new(x->config, &options, &x->machine, now);
	if (stream != NULL) {
		stream->take = take_response;
		stream->arg = x;
	}
	return stream;
}

static void
step_stream(struct xds_session *x, struct ads *a, const struct pollfd *fds,
    size_t count, monotime_t now)
{
	if (a == NULL)
		return;
	ads_step(a, fds, count, now);
	if (link_take_life(a->link)) {
		int64_t second = realtime_s();

		x->changed |= x->host->status->last_life != second;
		x->host->status->last_life = second;
	}
}

/* GOAWAY, or it is time for a resync. */
static void
want_replacement(struct xds_session *x, monotime_t now)
{
	int64_t delay_ms;

	if (x->current == NULL || monotime_is_set(x->replace) ||
	    x->next != NULL || !x->current->answered)
		return;
	if (!link_is_going(x->current->link) &&
	    !monotime_is_past(now, x->resync))
		return;
	delay_ms = x->is_steady ? backoff_planned_ms(next_random(x)) :
	    backoff_next_ms(&x->backoff, next_random(x));
	x->replace = monotime_add_ms(now, delay_ms);
}

/* When to try again. */
static monotime_t
lack_memory(struct xds_session *x, monotime_t now)
{
	static const struct link_end end = { .cause = FEED_CAUSE_CONNECT,
		.why = "no memory for a connection" };
	const int64_t delay_ms = backoff_next_ms(&x->backoff, next_random(x));

	note_error(x, &end, delay_ms);
	return monotime_add_ms(now, delay_ms);
}

static uint64_t
held_by(const struct ads *a)
{
	return a != NULL && a->message != NULL ? a->message_length : 0;
}

static size_t
coming_to(const struct ads *a)
{
	return a != NULL ? link_coming(a->link) : 0;
}

/*
 * One message of the longest kind is in memory at a time, with what is no more than
 * an eighth of it: while it waits to be kept, the next one waits at the server.
 */
static void
share_room(struct xds_session *x)
{
	const uint64_t held = held_by(x->current) + held_by(x->next) +
	    (x->again.message != NULL ? x->again.table.length : 0);

	if (x->current != NULL)
		link_hold(x->current->link, held + coming_to(x->next));
	if (x->next != NULL)
		link_hold(x->next->link, held + coming_to(x->current));
}

void
xds_session_step(struct xds_session *session, const struct pollfd *fds,
    monotime_t now)
{
	struct xds_session *x = session;
	struct ads *next = x->next;
	size_t current_fds = x->current_fds, next_fds = x->next_fds;
	size_t ca_fds = x->ca_fds;

	step_stream(x, x->current, fds, current_fds, now);
	step_stream(x, next, fds + current_fds, next_fds, now);
	if (x->config->ca)
		ca_step(&x->ca, fds + current_fds + next_fds, ca_fds, now,
		    realtime_s(), next_random(x));
	if (x->next != NULL && link_ended(x->next->link) != NULL)
		end_next(x, now);
	if (x->current != NULL && link_ended(x->current->link) != NULL)
		end_current(x, now);
	watch_steady(x, now);
	want_replacement(x, now);
	if (x->current == NULL && monotime_is_past(now, x->retry)) {
		x->current = start_stream(x, now);
		set_resync(x, now);
		if (x->current == NULL)
			x->retry = lack_memory(x, now);
	}
	if (x->current != NULL && x->next == NULL &&
	    monotime_is_set(x->replace) && monotime_is_past(now, x->replace)) {
		x->next = start_stream(x, now);
		x->replace = x->next != NULL ? MONOTIME_NEVER : lack_memory(x,
		    now);
	}
	take_again(x, now);
	share_room(x);
	set_connected(x);
	if (x->changed)
		x->host->changed(x->host->arg);
	x->changed = false;
}

static size_t
poll_stream(struct ads *a, struct pollfd *fds, monotime_t now)
{
	return a != NULL ? link_poll(a->link, fds, now) : 0;
}

size_t
xds_session_poll(struct xds_session *session, struct pollfd *fds,
    monotime_t now)
{
	session->current_fds = poll_stream(session->current, fds, now);
	session->next_fds = poll_stream(session->next,
	    fds + session->current_fds, now);
	session->ca_fds = ca_poll(&session->ca,
	    fds + session->current_fds + session->next_fds, now);
	return session->current_fds + session->next_fds + session->ca_fds;
}

monotime_t
xds_session_deadline(struct xds_session *session, monotime_t now)
{
	struct xds_session *x = session;
	monotime_t deadline = monotime_add_ms(now, XDS_RESYNC_MS);

	if (x->current == NULL)
		deadline = monotime_first(deadline, x->retry);
	else
		deadline = monotime_first(deadline, ads_deadline(x->current, now));
	if (x->next != NULL)
		deadline = monotime_first(deadline, ads_deadline(x->next, now));
	else if (x->current != NULL && x->current->answered)
		deadline = monotime_first(deadline,
		    monotime_is_set(x->replace) ? x->replace : x->resync);
	if (x->config->ca)
		deadline = monotime_first(deadline, ca_deadline(&x->ca, now));
	if (x->again.message != NULL)
		deadline = monotime_first(deadline, x->again.when);
	return deadline;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/xds_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/feed/text.h"

static void
forget(struct xds_again *again)
{
	free(again->message);
	*again = (struct xds_again){ .message = NULL };
}

static void
spend(struct xds_session *x, size_t length, monotime_t now)
{
	int64_t ms = XDS_KEEP_MS + (int64_t)(length / XDS_KEEP_OCTETS);

	if (monotime_is_past(now, x->spent))
		x->spent = now;
	x->spent = monotime_add_ms(x->spent, XDS_KEEP_SHARE * ms);
}

/* When the next table may be kept; long ago, as a rule. */
static monotime_t
affordable(const struct xds_session *x)
{
	return monotime_add_ms(x->spent, -XDS_KEEP_CREDIT_MS);
}

/* The stream's message outlives its answer. */
static void
postpone(struct xds_session *x, struct ads *a, const struct feed_table *table,
    monotime_t when)
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
	again->when = when;
}

static enum xds_table
offer(struct xds_session *x, const struct feed_table *table,
    char why[static FEED_TEXT], monotime_t now)
{
	enum feed_verdict verdict = x->host->offer(x->host->arg, table, why);

	if (verdict != FEED_SAME && verdict != FEED_REFUSED)
		spend(x, table->length, now);
	switch (verdict) {
	case FEED_REFUSED:
		return XDS_TABLE_REFUSED;
	case FEED_FAILED:
		return XDS_TABLE_POSTPONED;
	case FEED_SAME:
		x->host->status->same++;
		break;
	case FEED_APPLIED:
		break;
	}
	return XDS_TABLE_ACCEPTED;
}

/* A response's table, and what it borrows. */
struct taken {
	struct feed_table table;
	struct iovec part;
};

/* Its version is the status's from now on. */
static void
table_of(struct xds_session *x, const struct discovery_response *response,
    struct taken *taken)
{
	struct feed_status *status = x->host->status;

	feed_text_clean(status->version, sizeof(status->version),
	    response->version.text, response->version.length);
	taken->part = (struct iovec){ (void *)(uintptr_t)response->table.text,
		response->table.length };
	taken->table = (struct feed_table){ .format = "nds-proto",
		.version = status->version, .parts = &taken->part,
		.part_count = 1, .length = taken->part.iov_len };
}

/* Offers the response's table, and answers. */
static enum xds_table
take(struct xds_session *x, struct ads *a, char why[static FEED_TEXT],
    monotime_t now)
{
	enum xds_table result = XDS_TABLE_TOO_SOON;
	struct taken taken;

	table_of(x, &a->response, &taken);
	if (monotime_is_past(now, affordable(x)))
		result = offer(x, &taken.table, why, now);
	else if (!x->host->is_sound(x->host->arg, &taken.table, why))
		result = XDS_TABLE_REFUSED;
	ads_answer(a, result == XDS_TABLE_REFUSED ? why : NULL);
	/* There is nothing wrong with it: it is ours to keep. */
	if (result == XDS_TABLE_TOO_SOON)
		postpone(x, a, &taken.table, affordable(x));
	else if (result == XDS_TABLE_POSTPONED)
		postpone(x, a, &taken.table, monotime_add_ms(now, XDS_AGAIN_MS));
	else if (result != XDS_TABLE_REFUSED)
		forget(&x->again);
	return result;
}

/* Why a response cannot be offered at all; NULL: it can. */
static const char *
find_fault(const struct discovery_response *response)
{
	if (response->broken > 0)
		return "a resource is not a google.protobuf.Any";
	if (response->tables == 0)
		return "no resource is an istio.networking.nds.v1.NameTable";
	return NULL;
}

enum xds_table
xds_table_take(struct xds_session *session, struct ads *ads,
    char why[static FEED_TEXT], monotime_t now)
{
	const struct discovery_response *response = &ads->response;
	struct feed_status *status = session->host->status;
	enum xds_table result = XDS_TABLE_NONE;
	const char *fault = find_fault(response);

	*why = '\0';
	if (response->tables + response->others + response->broken == 0) {
		ads_answer(ads, NULL);
		ads_drop(ads);
		return result;
	}
	status->pushes++;
	feed_text_clean(status->version, sizeof(status->version),
	    response->version.text, response->version.length);
	if (fault != NULL) {
		(void)snprintf(why, FEED_TEXT, "%s", fault);
		ads_answer(ads, why);
		result = XDS_TABLE_REFUSED;
	} else {
		result = take(session, ads, why, now);
	}
	ads_drop(ads);
	return result;
}

void
xds_table_overtaken(struct xds_session *session, struct ads *ads)
{
	struct xds_session *x = session;
	const struct discovery_response *response = &ads->response;
	const char *fault = find_fault(response);
	char why[FEED_TEXT];
	struct taken taken;

	if (response->tables + response->others + response->broken == 0) {
		ads_answer(ads, NULL);
		ads_drop(ads);
		return;
	}
	x->host->status->pushes++;
	table_of(x, response, &taken);
	if (fault == NULL &&
	    !x->host->is_sound(x->host->arg, &taken.table, why))
		fault = why;
	x->host->status->nacks += fault != NULL;
	ads_answer(ads, fault);
	if (fault == NULL)
		postpone(x, ads, &taken.table, affordable(x));
	ads_drop(ads);
}

void
xds_table_last(struct xds_session *session)
{
	struct xds_again *again = &session->again;
	char why[FEED_TEXT];

	if (again->message != NULL)
		(void)session->host->offer(session->host->arg, &again->table,
		    why);
	forget(again);
}

enum xds_table
xds_table_again(struct xds_session *session, char why[static FEED_TEXT],
    monotime_t now)
{
	struct xds_again *again = &session->again;
	enum xds_table result;

	if (again->message == NULL || !monotime_is_past(now, again->when))
		return XDS_TABLE_NONE;
	result = offer(session, &again->table, why, now);
	if (result != XDS_TABLE_POSTPONED) {
		forget(again);
		return result;
	}
	again->delay_ms = again->delay_ms * 2 > XDS_AGAIN_MOST_MS ?
	    XDS_AGAIN_MOST_MS : again->delay_ms * 2;
	again->when = monotime_add_ms(now, again->delay_ms);
	return result;
}

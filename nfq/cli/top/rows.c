/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists of the model. */
#include "nfq/cli/top/model.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_USERS	100

/* Takes the label over; NULL is a lack of memory. */
static int
add(struct top_rows *rows, char *label, uint64_t count, uint64_t more,
    double rate)
{
	struct top_row *grown = rows->rows;
	size_t room = rows->room;

	if (label != NULL && rows->count == room) {
		room = room == 0 ? 64 : room * 2;
		grown = reallocarray(rows->rows, room, sizeof(*grown));
	}
	if (label == NULL || grown == NULL) {
		free(label);
		return -ENOMEM;
	}
	rows->rows = grown;
	rows->room = room;
	rows->rows[rows->count++] = (struct top_row){ label, count, more, rate };
	return 0;
}

/* A counter of the page; nothing is said of what never happened. */
static int
add_counter(struct top_rows *rows, const struct top_model *m,
    const char *label, uint64_t before, uint64_t now)
{
	rows->total += now;
	return now == 0 ? 0 : add(rows, strdup(label), now, 0,
	    top_rate(m, before, now));
}

/*
 * A container's address.  The user's name; its number if it has none, or if it
 * stands far below: a name may be the answer of a server.
 */
static char *
user_label(const struct hitter *h, size_t place)
{
	const bool v4 = IN6_IS_ADDR_V4MAPPED(&h->client);
	const struct passwd *user = h->uid == (uid_t)-1 ||
	    place >= NAMED_USERS ? NULL : getpwuid(h->uid);
	char text[INET6_ADDRSTRLEN];

	if (user != NULL)
		return strdup(user->pw_name);
	if (!IN6_IS_ADDR_UNSPECIFIED(&h->client))
		(void)inet_ntop(v4 ? AF_INET : AF_INET6, v4 ?
		    &h->client.s6_addr[12] : h->client.s6_addr, text,
		    sizeof(text));
	else if (h->uid == (uid_t)-1)
		return strdup("(unknown)");
	else
		(void)snprintf(text, sizeof(text), "%" PRIu32,
		    (uint32_t)h->uid);
	return strdup(text);
}

static int
add_hitters(struct top_rows *rows, const struct hitters_list *list,
    enum hitters_kind kind)
{
	const double seconds = (double)list->covered_ns / 1e9;
	char text[NAME_TEXT_SIZE];
	int error = 0;

	rows->total = list->total;
	for (size_t i = 0; i < list->count && error == 0; i++) {
		const struct hitter *h = &list->list[i];

		error = add(rows, kind == HITTERS_USERS ? user_label(h, i) :
		    strdup(name_to_text(h->name.octets, text)), h->least,
		    h->most > h->least ? h->most - h->least : 0,
		    seconds > 0 ? (double)h->least / seconds : 0);
	}
	return error;
}

static const struct policy_shown *
find_rule(const struct top_reading *r, const char *name)
{
	for (size_t i = 0; i < r->rule_count; i++)
		if (strcmp(r->rules[i].name, name) == 0)
			return &r->rules[i];
	return NULL;
}

static int
add_rules(struct top_rows *rows, const struct top_model *m)
{
	int error = 0;

	for (size_t i = 0; i < m->now.rule_count && error == 0; i++) {
		const struct policy_shown *now = &m->now.rules[i];
		const struct policy_shown *before =
		    find_rule(&m->before, now->name);

		error = add_counter(rows, m, now->name, before != NULL ?
		    before->matched : now->matched, now->matched);
	}
	return error;
}

static uint64_t
asked(const struct top_reading *r, size_t type)
{
	uint64_t sum = 0;

	for (size_t tcp = 0; tcp < 2; tcp++)
		for (size_t family = 0; family < ASKED_FAMILIES; family++)
			sum += r->counters.asked[tcp][family][type];
	return sum;
}

static int
add_types(struct top_rows *rows, const struct top_model *m)
{
	int error = 0;

	for (size_t i = 0; i < ASKED_TYPES && error == 0; i++)
		error = add_counter(rows, m,
		    status_type_text((enum status_type)i), asked(&m->before, i),
		    asked(&m->now, i));
	return error;
}

static int
add_verdicts(struct top_rows *rows, const struct top_model *m)
{
	int error = 0;

	for (size_t i = 0; i < VERDICTS && error == 0; i++)
		error = add_counter(rows, m,
		    decide_verdict_text((enum verdict)i),
		    m->before.counters.verdicts[i], m->now.counters.verdicts[i]);
	return error;
}

static int
add_decisions(struct top_rows *rows, const struct top_model *m)
{
	int error = 0;

	for (size_t i = 0; i < REASONS && error == 0; i++)
		error = add_counter(rows, m, decide_reason_text((enum reason)i),
		    m->before.counters.reasons[i], m->now.counters.reasons[i]);
	return error;
}

static int
add_latencies(struct top_rows *rows, const struct top_model *m)
{
	char text[TOP_TEXT];
	int error = 0;

	for (unsigned int i = 0; i < STATUS_SPENT && error == 0; i++)
		error = add_counter(rows, m, latency_text(i, text),
		    m->before.counters.spent[i], m->now.counters.spent[i]);
	return error;
}

static int
by_count(const void *left, const void *right)
{
	const struct top_row *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return strcmp(a->label, b->label);
}

static int
add_list(struct top_rows *rows, const struct top_model *m, enum top_list list)
{
	switch (list) {
	case TOP_NAMES:
		return add_hitters(rows, &m->now.hitters[HITTERS_NAMES],
		    HITTERS_NAMES);
	case TOP_USERS:
		return add_hitters(rows, &m->now.hitters[HITTERS_USERS],
		    HITTERS_USERS);
	case TOP_RULES:
		return add_rules(rows, m);
	case TOP_TYPES:
		return add_types(rows, m);
	case TOP_VERDICTS:
		return add_verdicts(rows, m);
	case TOP_DECISIONS:
		return add_decisions(rows, m);
	case TOP_LATENCY:
		return add_latencies(rows, m);
	case TOP_LISTS:
		break;
	}
	return 0;
}

int
top_rows_read(struct top_rows *rows, const struct top_model *m,
    enum top_list list)
{
	int error;

	*rows = (struct top_rows){ .rows = NULL };
	error = m->now.running ? add_list(rows, m, list) : 0;
	if (error == 0 && rows->count > 1 && list != TOP_LATENCY)
		qsort(rows->rows, rows->count, sizeof(*rows->rows), by_count);
	return error;
}

void
top_rows_free(struct top_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->rows[i].label);
	free(rows->rows);
	*rows = (struct top_rows){ .rows = NULL };
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of all threads and of both banks, put together.  A key that one of
 * them has not kept may have come to it as often as its set's smallest count: so
 * much more is possible, and the bounds of the sum hold as those of each table.
 */
#include "policy/status/hitters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_NS	((int64_t)HITTERS_WINDOW_S * 1000000000)

/* A place, as its table bounds it. */
struct found {
	struct hitters_place place;
	uint64_t above;			/* count, less the set's smallest */
};

struct merge {
	const struct hitters_table **tables;	/* that count */
	size_t table_count;
	struct found *found;
	size_t found_count;
	uint64_t missed[HITTERS_SETS];	/* of the tables' smallest, the sum */
};

static bool
is_current(const struct hitters_bank *bank, int64_t since, int64_t window)
{
	const int64_t number = atomic_load(&bank->window);

	return atomic_load(&bank->since) == since &&
	    (number == window || number == window - 1);
}

static int
find_tables(struct merge *m, const struct hitters_page *page, size_t slots,
    enum hitters_kind kind, int64_t since, int64_t window)
{
	m->tables = calloc(slots * 2, sizeof(*m->tables));
	if (m->tables == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < slots * 2; i++) {
		const struct hitters_bank *bank =
		    &page->slot[i / 2].banks[i % 2];

		if (is_current(bank, since, window))
			m->tables[m->table_count++] = &bank->tables[kind];
	}
	m->found = calloc(m->table_count * HITTERS_ROOM + 1,
	    sizeof(*m->found));
	return m->found == NULL ? -ENOMEM : 0;
}

/* A hash that belongs into another set is of a worker that lies. */
static void
read_set(struct merge *m, const struct hitters_table *table, unsigned int set,
    uint64_t *total)
{
	const uint64_t smallest = hitters_smallest(table, set);

	m->missed[set] += smallest;
	for (unsigned int way = 0; way < HITTERS_WAYS; way++) {
		struct found *f = &m->found[m->found_count];
		struct hitters_place *p = &f->place;

		if (!hitters_place_read(table, set, way, p) ||
		    hitters_set(p->hash) != set)
			continue;
		*total += p->count;
		f->above = p->count > smallest ? p->count - smallest : 0;
		m->found_count++;
	}
}

static int
compare_found(const void *left, const void *right)
{
	const struct hitters_place *a = &((const struct found *)left)->place;
	const struct hitters_place *b = &((const struct found *)right)->place;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return memcmp(a->octets, b->octets, a->length);
}

/* False: the octets are no key of that kind. */
static bool
take_key(struct hitter *hitter, const struct hitters_place *p,
    enum hitters_kind kind)
{
	if (kind == HITTERS_NAMES)
		return name_read_lower(&hitter->name, p->octets,
		    p->length) == 0;
	hitter->uid = (uid_t)-1;
	if (p->length == sizeof(hitter->client))
		memcpy(&hitter->client, p->octets, sizeof(hitter->client));
	else if (p->length == sizeof(hitter->uid))
		memcpy(&hitter->uid, p->octets, sizeof(hitter->uid));
	else
		return false;
	return true;
}

/* Those of one key stand behind each other. */
static void
add_up(struct hitters_list *list, const struct merge *m,
    enum hitters_kind kind)
{
	const struct found *previous = NULL;

	for (size_t i = 0; i < m->found_count; i++) {
		const struct found *f = &m->found[i];
		struct hitter *hitter = &list->list[list->count];

		if (previous != NULL && compare_found(previous, f) == 0)
			hitter--;
		else if (take_key(hitter, &f->place, kind)) {
			hitter->least = 0;
			hitter->most = m->missed[hitters_set(f->place.hash)];
			list->count++;
		} else
			continue;
		hitter->least += f->place.count - f->place.error;
		hitter->most += f->above;
		previous = f;
	}
}

static int
compare_hitters(const void *left, const void *right)
{
	const struct hitter *a = left, *b = right;

	if (a->least != b->least)
		return a->least > b->least ? -1 : 1;
	if (a->most != b->most)
		return a->most > b->most ? -1 : 1;
	if (a->uid != b->uid)
		return a->uid < b->uid ? -1 : 1;
	if (a->name.length != b->name.length)
		return a->name.length < b->name.length ? -1 : 1;
	return memcmp(a->name.octets, b->name.octets, a->name.length);
}

static int
read_merged(struct hitters_list *list, struct merge *m, enum hitters_kind kind)
{
	for (size_t i = 0; i < m->table_count; i++)
		for (unsigned int set = 0; set < HITTERS_SETS; set++)
			read_set(m, m->tables[i], set, &list->total);
	for (unsigned int set = 0; set < HITTERS_SETS; set++)
		if (m->missed[set] > list->others)
			list->others = m->missed[set];
	list->list = calloc(m->found_count + 1, sizeof(*list->list));
	if (list->list == NULL)
		return -ENOMEM;
	qsort(m->found, m->found_count, sizeof(*m->found), compare_found);
	add_up(list, m, kind);
	qsort(list->list, list->count, sizeof(*list->list), compare_hitters);
	return 0;
}

int
hitters_list_read(struct hitters_list *list, const struct hitters *h,
    enum hitters_kind kind, monotime_t now)
{
	const int64_t since = h->page == NULL ? 0 :
	    atomic_load(&h->page->since);
	const int64_t window = now.ns / WINDOW_NS;
	int64_t begin = (window - 1) * WINDOW_NS;
	struct merge m = { .tables = NULL };
	int error;

	*list = (struct hitters_list){ .list = NULL };
	if (since == 0 || since > now.ns)
		return 0;
	if (begin < since)
		begin = since;
	list->covered_ns = now.ns - begin;
	/* The number of slots was checked against the size when it was mapped. */
	error = find_tables(&m, h->page, (h->size - sizeof(*h->page)) /
	    sizeof(h->page->slot[0]), kind, since, window);
	if (error == 0)
		error = read_merged(list, &m, kind);
	free(m.found);
	free(m.tables);
	return error;
}

void
hitters_list_free(struct hitters_list *list)
{
	free(list->list);
	*list = (struct hitters_list){ .list = NULL };
}

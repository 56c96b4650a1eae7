/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as two name tables: nothing outside them is read, every entry that
 * counts is found again and no other is, and a comparison is the other one the
 * other way round.
 */
#include <errno.h>
#include <string.h>

#include "resolver/sources/name_table.h"
#include "tests/fuzz/fuzz.h"

static void
check_inside(const struct name_table *table, struct span span)
{
	const uint8_t *at = (const uint8_t *)span.text;

	check(span.length == 0 || (at >= table->octets &&
	    at + span.length <= table->octets + table->length));
	check(span_is_utf8(span));
}

static void
check_texts(const struct name_table *table, struct name_table_texts texts)
{
	struct span text;

	while (name_table_text(&texts, &text))
		check_inside(table, text);
}

static void
check_entries(const struct name_table *table)
{
	struct name_table_walk walk = name_table_walk_over(table->octets,
	    table->length);
	size_t names = 0, faulty = 0, all = 0;
	struct name_table_entry entry, found;

	for (; name_table_next(&walk, &entry); all++) {
		if (entry.fault != NULL || entry.host.length == 0) {
			check(!name_table_counts(table, &entry));
			faulty++;
			continue;
		}
		check_inside(table, entry.host);
		check_inside(table, entry.registry);
		check_inside(table, entry.shortname);
		check_inside(table, entry.namespace);
		check_texts(table, name_table_ips(&entry));
		check_texts(table, name_table_alt_hosts(&entry));
		check(name_table_find(table, entry.host, &found));
		check(span_equal(found.host, entry.host));
		check(found.field >= entry.field);
		names += name_table_counts(table, &entry);
	}
	check(!name_table_failed(&walk));
	check(names == table->names && faulty == table->faulty);
	check(all == names + faulty + table->replaced);
}

static void
count(void *arg, enum name_table_change change,
    const struct name_table_entry *entry)
{
	struct name_table_delta *delta = arg;

	check(entry->fault == NULL);
	delta->added += change == NAME_TABLE_ADDED;
	delta->removed += change == NAME_TABLE_REMOVED;
	delta->changed += change == NAME_TABLE_CHANGED;
}

static void
check_comparison(struct name_table *a, struct name_table *b)
{
	struct name_table_delta there, back, seen = { 0, 0, 0 };

	check(name_table_compare(a, b, &there, count, &seen) == 0);
	check(name_table_compare(b, a, &back, NULL, NULL) == 0);
	check(memcmp(&there, &seen, sizeof(there)) == 0);
	check(there.added == back.removed && there.removed == back.added &&
	    there.changed == back.changed);
	check(a->names + there.added == b->names + there.removed);
	check(name_table_compare(a, a, &there, NULL, NULL) == 0);
	check(there.added + there.removed + there.changed == 0);
}

/* With indexes the result is the one without. */
static void
check_indexed(struct name_table *a, struct name_table *b)
{
	struct name_table_delta merged, indexed;

	check(name_table_compare(a, b, &merged, NULL, NULL) == 0);
	check(name_table_index(a) == 0 && name_table_index(b) == 0);
	a->sorted = b->sorted = false;
	check(name_table_compare(a, b, &indexed, NULL, NULL) == 0);
	check(memcmp(&merged, &indexed, sizeof(merged)) == 0);
}

static bool
open_table(struct name_table *table, const uint8_t *octets, size_t length)
{
	int error = name_table_open(table, octets, length);

	check(error == 0 || error == -EBADMSG);
	check(error == 0 || table->failed_at <= length);
	if (error != 0)
		return false;
	if (table->sorted) {
		/* Without an index nothing can be looked up. */
		check(table->replaced == 0);
		check(name_table_index(table) == 0);
		check_entries(table);
		name_table_close(table);
	} else {
		check_entries(table);
	}
	return true;
}

/* The first octet says where the second table begins. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct name_table a, b;
	size_t first;

	if (size == 0)
		return 0;
	first = (size - 1) * data[0] / 255;
	if (!open_table(&a, data + 1, first))
		return 0;
	if (open_table(&b, data + 1 + first, size - 1 - first)) {
		check_comparison(&a, &b);
		check_indexed(&a, &b);
		name_table_close(&b);
	}
	name_table_close(&a);
	return 0;
}

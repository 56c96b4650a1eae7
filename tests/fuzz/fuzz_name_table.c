/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a name table: nothing outside them is read, and every entry that
 * counts is found again and no other is.
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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct name_table table;

	if (open_table(&table, data, size))
		name_table_close(&table);
	return 0;
}

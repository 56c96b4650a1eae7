/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * name_table_walk: name tables from stdin, each behind its length (32 bits, in
 * network order), as text: "table NAMES FAULTY REPLACED" or "failed OCTET", then
 * for each entry that counts host, registry, shortname, namespace, addresses
 * and alternate hosts in hex, lists with commas; "-" for none.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "resolver/sources/name_table.h"

static void
print_hex(struct span span)
{
	for (size_t i = 0; i < span.length; i++)
		printf("%02x", (unsigned int)(uint8_t)span.text[i]);
}

static void
print_texts(struct name_table_texts texts)
{
	struct span text;
	bool any = false;

	putchar(' ');
	for (; name_table_text(&texts, &text); any = true) {
		if (any)
			putchar(',');
		putchar('.');		/* an empty text is one, too */
		print_hex(text);
	}
	if (!any)
		putchar('-');
}

static void
print_entry(const struct name_table_entry *entry)
{
	const struct span *texts[] = { &entry->host, &entry->registry,
	    &entry->shortname, &entry->namespace };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		printf("%s.", i > 0 ? " " : "");
		print_hex(*texts[i]);
	}
	print_texts(name_table_ips(entry));
	print_texts(name_table_alt_hosts(entry));
	putchar('\n');
}

static void
print_table(const uint8_t *octets, size_t length)
{
	struct name_table_walk walk = name_table_walk_over(octets, length);
	struct name_table_entry entry;
	struct name_table table;
	int error = name_table_open(&table, octets, length);

	if (error == -EBADMSG)
		printf("failed %zu\n", table.failed_at);
	if (error != 0)
		return;
	printf("table %zu %zu %zu\n", table.names, table.faulty,
	    table.replaced);
	while (name_table_next(&walk, &entry)) {
		if (name_table_counts(&table, &entry))
			print_entry(&entry);
	}
	name_table_close(&table);
}

int
main(void)
{
	uint32_t length;

	while (fread(&length, sizeof(length), 1, stdin) == 1) {
		uint8_t *octets;

		length = be32toh(length);
		octets = malloc(length + (length == 0));
		if (octets == NULL || fread(octets, 1, length, stdin) != length)
			return 1;
		print_table(octets, length);
		free(octets);
	}
	return 0;
}

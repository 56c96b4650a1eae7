/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a table image.  Size and checksum are put right first, since
 * a hostile image has them right too: what is tried is the check behind them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "resolver/image/image.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rdata.h"
#include "resolver/image/table.h"
#include "tests/fuzz/fuzz.h"

/* Opens a copy of the octets with size and checksum set. */
static struct table *
open_image(const uint8_t *data, size_t size)
{
	const size_t unhashed = offsetof(struct image_header, wildcard_labels);
	uint8_t *image = malloc(size + 1);
	struct table *table;
	const char *why = NULL;
	int fd = memfd_create("fuzz-image", MFD_CLOEXEC);
	int error;

	check(image != NULL && fd >= 0);
	memcpy(image, data, size);
	if (size >= sizeof(struct image_header)) {
		struct image_header *header = (void *)image;

		header->total_size = size;
		header->checksum = XXH3_64bits(image + unhashed,
		    size - unhashed);
	}
	check(write(fd, image, size) == (ssize_t)size);
	free(image);
	error = table_open(&table, fd, &why);
	check((error == 0) == (table != NULL));
	check(error == 0 || why != NULL);
	close(fd);
	return table;
}

/* Every octet of every record, as listings and answers read them. */
static void
read_node(const struct table *table, uint32_t node)
{
	struct rrset rrset, again;
	struct dns_name name;
	unsigned int aliases = 0;
	bool wildcard;

	while (table_alias(table, node, aliases, &name, &wildcard)) {
		check(name.length > 0);
		aliases++;
	}
	check(aliases <= TABLE_ALIASES);
	check((aliases > 0) == table_is_alias(table, node));
	for (size_t i = 0; table_rrset_at(table, node, i, &rrset); i++) {
		const uint8_t *at = rrset.rdata;

		check(rrset.count > 0);
		check(table_rrset(table, node, rrset.type, &again));
		for (uint32_t n = 0; n < rrset.count; n++) {
			size_t length = rrset.rdlength;

			if (length == 0) {
				length = (size_t)at[0] << 8 | at[1];
				at += 2;
			}
			check(rdata_valid(rrset.type, at, length));
			at += length;
		}
	}
}

static void
look_up(const struct table *table, const char *text)
{
	struct dns_name name;
	struct entry entry;

	check(name_from_text(&name, text, strlen(text)) == 0);
	table_find(table, &name, &entry);
	check(entry.target_length < name.length);
	check(entry.zone_labels <= name.labels);
	if (entry.node != 0)
		read_node(table, entry.node);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct table *table = open_image(data, size);
	char text[NAME_TEXT_SIZE];
	unsigned int source, line;
	struct dns_name name;
	size_t cursor = 0, length, names = 0;
	uint32_t node;
	uint8_t flags;

	if (table == NULL)
		return 0;
	while (table_next(table, &cursor, &name, &node, &flags)) {
		read_node(table, node);
		look_up(table, name_to_text(name.octets, text));
		table_origin(table, node, &source, &line);
		(void)table_source(table, source, &length);
		names++;
	}
	check(names == table_names(table));
	look_up(table, "a.z.search.test");
	look_up(table, "x.y.wild.search.test");
	look_up(table, "none.z");
	look_up(table, ".");
	table_close(table);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/listing/table_addresses.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/image/istio_range.h"
#include "resolver/dns/rr.h"
#include "resolver/text/json_write.h"

struct given {
	uint8_t octets[16];
	uint8_t length;			/* 4 or 16 */
	uint32_t node;
	struct dns_name name;
};

struct given_list {
	struct given *items;
	size_t count, room;
};

static struct given *
append(struct given_list *list)
{
	struct given *grown;
	size_t room = list->room + list->room / 2 + 64;

	if (list->count < list->room)
		return &list->items[list->count++];
	grown = reallocarray(list->items, room, sizeof(*grown));
	if (grown == NULL)
		return NULL;
	list->items = grown;
	list->room = room;
	return &list->items[list->count++];
}

/* Adds the addresses of one family that a node has. */
static int
gather_family(struct given_list *list, const struct table *table,
    const struct dns_name *name, uint32_t node, uint16_t type)
{
	struct rrset rrset;

	if (!table_rrset(table, node, type, &rrset))
		return 0;
	for (uint32_t i = 0; i < rrset.count; i++) {
		const uint8_t *octets = rrset.rdata +
		    (size_t)i * rrset.rdlength;
		struct given *g;

		if (!istio_range_has(octets, rrset.rdlength))
			continue;
		g = append(list);
		if (g == NULL)
			return -ENOMEM;
		*g = (struct given){ .length = (uint8_t)rrset.rdlength,
		    .node = node, .name = *name };
		memcpy(g->octets, octets, rrset.rdlength);
	}
	return 0;
}

static int
gather(struct given_list *list, const struct table *table)
{
	struct dns_name name;
	size_t cursor = 0;
	uint32_t node;
	uint8_t flags;
	int error = 0;

	while (error == 0 &&
	    table_next(table, &cursor, &name, &node, &flags)) {
		error = gather_family(list, table, &name, node, TYPE_A);
		if (error == 0)
			error = gather_family(list, table, &name, node,
			    TYPE_AAAA);
	}
	return error;
}

static int
compare(const void *a, const void *b)
{
	const struct given *x = a, *y = b;
	int order = (int)x->length - (int)y->length;

	if (order == 0)
		order = memcmp(x->octets, y->octets, x->length);
	if (order == 0)
		order = memcmp(x->name.octets, y->name.octets,
		    x->name.length < y->name.length ? x->name.length :
		    y->name.length);
	return order;
}

static int
print(const struct table *table, const struct given *g, bool json, FILE *out)
{
	struct json_write w = { .out = out };
	char address[INET6_ADDRSTRLEN], name[NAME_TEXT_SIZE];
	unsigned int source, line;
	const char *path;
	size_t length = 0;

	table_origin(table, g->node, &source, &line);
	path = table_source(table, source, &length);
	if (path == NULL)
		path = "";
	(void)inet_ntop(g->length == 4 ? AF_INET : AF_INET6, g->octets,
	    address, sizeof(address));
	(void)name_to_text(g->name.octets, name);
	if (!json)
		return fprintf(out, "%s\t%s\t%.*s:%u\n", address, name,
		    (int)length, path, line) < 0 ? -EIO : 0;
	json_write_open(&w, NULL, '{');
	json_write_text(&w, "address", address);
	json_write_text(&w, "name", name);
	json_write_octets(&w, "source", path, length);
	json_write_number(&w, "line", line);
	json_write_close(&w, '}');
	return json_write_end(&w);
}

int
table_addresses(const struct table *table, bool json, FILE *out)
{
	struct given_list list = { .count = 0 };
	int error = gather(&list, table);

	if (error == 0 && list.count > 0)
		qsort(list.items, list.count, sizeof(*list.items), compare);
	for (size_t i = 0; i < list.count && error == 0; i++)
		error = print(table, &list.items[i], json, out);
	free(list.items);
	return error;
}

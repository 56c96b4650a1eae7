/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/listing/table_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/dns/name.h"

static int
compare(const void *a, const void *b)
{
	const struct table_listed *left = a, *right = b;

	return strcmp(left->name, right->name);
}

void
table_list_free(struct table_list *l)
{
	free(l->names);
	free(l->texts);
}

/* Collects nodes, flags and texts in the order of the image. */
static int
gather(struct table_list *l, const struct table *table)
{
	size_t room = table_names(table), cursor = 0, size;
	FILE *out = open_memstream(&l->texts, &size);
	struct dns_name name;
	uint32_t node;
	uint8_t flags;

	if (out == NULL)
		return -ENOMEM;
	while (l->count < room &&
	    table_next(table, &cursor, &name, &node, &flags)) {
		char text[NAME_TEXT_SIZE];

		l->names[l->count].node = node;
		l->names[l->count++].flags = flags;
		fputs(name_to_text(name.octets, text), out);
		fputc('\0', out);
	}
	return fclose(out) == 0 ? 0 : -ENOMEM;
}

int
table_list_make(struct table_list *l, const struct table *table)
{
	const char *text;
	int error;

	l->names = calloc(table_names(table) + 1, sizeof(*l->names));
	if (l->names == NULL)
		return -ENOMEM;
	error = gather(l, table);
	if (error != 0)
		return error;
	text = l->texts;
	for (size_t i = 0; i < l->count; i++) {
		l->names[i].name = text;
		text += strlen(text) + 1;
	}
	qsort(l->names, l->count, sizeof(*l->names), compare);
	return 0;
}

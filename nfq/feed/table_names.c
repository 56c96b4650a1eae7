/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/feed/table_names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int
open_nds(struct table_names *names, const void *octets, size_t length,
    char *why, size_t why_size)
{
	int error = name_table_open(&names->nds, octets, length);

	if (error == -EBADMSG || error == -E2BIG) {
		(void)snprintf(why, why_size, "it is no name table, from octet "
		    "%zu on", names->nds.failed_at);
		return -EBADMSG;
	}
	if (error == 0)
		names->kind = TABLE_NAMES_NDS;
	return error;
}

static int
open_objects(struct table_names *names, const void *octets, size_t length,
    char *why, size_t why_size)
{
	const char *reason = "";
	int error = object_names_open(&names->objects, octets, length, &reason);

	if (error == -EBADMSG)
		(void)snprintf(why, why_size, "%s", reason);
	if (error == 0)
		names->kind = TABLE_NAMES_OBJECTS;
	return error;
}

int
table_names_open(struct table_names *names, const char *format,
    const void *octets, size_t length, char *why, size_t why_size)
{
	memset(names, 0, sizeof(*names));
	if (strcmp(format, "nds-proto") == 0)
		return open_nds(names, octets, length, why, why_size);
	if (strcmp(format, "kubernetes") == 0)
		return open_objects(names, octets, length, why, why_size);
	(void)snprintf(why, why_size, "its format is not known");
	return -EBADMSG;
}

void
table_names_close(struct table_names *names)
{
	if (names->kind == TABLE_NAMES_NDS)
		name_table_close(&names->nds);
	if (names->kind == TABLE_NAMES_OBJECTS)
		object_names_close(&names->objects);
	memset(names, 0, sizeof(*names));
}

void
table_names_move(struct table_names *names, const void *octets)
{
	if (names->kind == TABLE_NAMES_NDS)
		names->nds.octets = octets;
}

uint64_t
table_names_count(const struct table_names *names)
{
	return names->kind == TABLE_NAMES_NDS ? names->nds.names :
	    names->objects.count;
}

uint64_t
table_names_faulty(const struct table_names *names)
{
	return names->kind == TABLE_NAMES_NDS ? names->nds.faulty : 0;
}

int
table_names_compare(const struct table_names *old,
    const struct table_names *new, struct name_table_delta *delta)
{
	*delta = (struct name_table_delta){
		.added = table_names_count(new),
		.removed = table_names_count(old),
	};
	if (old->kind != new->kind)
		return 0;
	if (new->kind == TABLE_NAMES_NDS)
		return name_table_compare(&old->nds, &new->nds, delta, NULL,
		    NULL);
	if (new->kind == TABLE_NAMES_OBJECTS)
		object_names_compare(&old->objects, &new->objects, delta);
	return 0;
}

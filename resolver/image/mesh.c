/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/image/mesh.h"

#include <stdlib.h>
#include <string.h>

static void
clear_texts(struct mesh_texts *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->texts[i]);
	free(list->texts);
}

#define NO_VALUE(type, name)
#define NO_ARRAY(type, name, count, most)

static void
clear_source(struct mesh_source *source)
{
#define TEXT(name)	free(source->name);
#define TEXTS(name)	clear_texts(&source->name);
	MESH_SOURCE_FIELDS(NO_VALUE, TEXT, TEXTS)
#undef TEXTS
#undef TEXT
}

void
mesh_clear(struct mesh *mesh)
{
	for (size_t i = 0; i < mesh->source_count; i++)
		clear_source(&mesh->sources[i]);
	free(mesh->sources);
#define TEXT(name)	free(mesh->name);
	MESH_FIELDS(NO_VALUE, TEXT, NO_ARRAY)
#undef TEXT
	memset(mesh, 0, sizeof(*mesh));
}

const struct mesh_zone *
mesh_zone_of(const struct mesh *mesh, const struct dns_name *name)
{
	const struct mesh_zone *deepest = NULL;

	for (size_t i = 0; i < mesh->zone_count; i++) {
		const struct mesh_zone *zone = &mesh->zones[i];

		if (name_is_within(name, &zone->name) && (deepest == NULL ||
		    zone->name.labels > deepest->name.labels))
			deepest = zone;
	}
	return deepest;
}

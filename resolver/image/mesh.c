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

static void
clear_source(struct mesh_source *source)
{
	clear_texts(&source->namespaces);
	clear_texts(&source->nameservers);
	free(source->cluster);
	free(source->network);
	free(source->clusterset);
	free(source->origin);
	free(source->path);
}

void
mesh_clear(struct mesh *mesh)
{
	for (size_t i = 0; i < mesh->source_count; i++)
		clear_source(&mesh->sources[i]);
	free(mesh->sources);
	free(mesh->namespace);
	free(mesh->cluster);
	free(mesh->network);
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

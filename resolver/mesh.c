/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/mesh.h"

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

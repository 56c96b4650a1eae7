/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/image/mesh.h"

#include <stdlib.h>
#include <string.h>

int
short_names_init(struct short_names *names, const struct mesh *mesh)
{
	const char *own = mesh->namespace != NULL ? mesh->namespace : "";
	int error = name_from_text(&names->svc, "svc", 3);

	if (error == 0)
		error = name_join(&names->services, &names->svc, &mesh->domain);
	if (error != 0)
		return error;
	if (name_from_text(&names->namespace, own, strlen(own)) != 0)
		return name_from_text(&names->namespace, "", 0);
	name_lower(&names->namespace);
	return 0;
}

bool
short_names_apply(const struct short_names *names, const struct dns_name *host)
{
	return host->labels > names->services.labels &&
	    name_is_within(host, &names->services);
}

size_t
short_names_of(const struct short_names *names, const struct dns_name *name,
    const struct dns_name *namespace,
    struct dns_name found[static SHORT_NAMES_MAX], bool *too_long)
{
	size_t count = 0;

	*too_long = false;
	if (name->labels == 0 || namespace->labels == 0)
		return 0;
	if (name_equal(namespace, &names->namespace))
		found[count++] = *name;
	*too_long = name_join(&found[count], name, namespace) != 0;
	if (*too_long)
		return count;
	count++;
	*too_long = name_join(&found[count], &found[count - 1],
	    &names->svc) != 0;
	return count + !*too_long;
}

const uint8_t istio_range_v4[ISTIO_RANGE_V4_OCTETS] = { 240, 240 };
const uint8_t istio_range_v6[ISTIO_RANGE_V6_OCTETS] = {
	0x20, 0x01, 0x00, 0x02, 0, 0 };

bool
istio_range_has(const uint8_t *octets, size_t length)
{
	return length == 4 ?
	    memcmp(octets, istio_range_v4, sizeof(istio_range_v4)) == 0 :
	    memcmp(octets, istio_range_v6, sizeof(istio_range_v6)) == 0;
}

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

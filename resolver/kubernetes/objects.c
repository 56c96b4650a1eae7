/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/kubernetes/objects.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* One object that was seen, by the handles of its strings. */
struct object_key {
	uint32_t cluster, kind, namespace, name;
};

struct object_seen {
	struct object_key key;
	struct object_origin origin;
};

void
objects_free(struct objects *o)
{
	arena_free(&o->arena);
	free(o->strings.slots);
	free(o->services.slots);
	free(o->seen.slots);
	*o = (struct objects)OBJECTS_INIT;
}

static uint32_t
tag_of(const void *octets, size_t length)
{
	return (uint32_t)(XXH3_64bits(octets, length) >> 32);
}

/* An item that the index is to find under that tag. */
static int
new_item(struct objects *o, struct build_index *index, uint32_t tag,
    size_t size, uint32_t *handle)
{
	int error = build_index_reserve(index);

	if (error == 0)
		error = arena_take(&o->arena, size, handle);
	if (error == 0)
		build_index_place(index, tag, *handle);
	return error;
}

int
objects_string(struct objects *o, const char *text, size_t length,
    uint32_t *string)
{
	uint32_t tag = tag_of(text, length);
	struct object_string *s;
	size_t step = 0;
	int error;

	while ((*string = build_index_next(&o->strings, tag, &step)) != 0) {
		s = OBJECT_AT(o, struct object_string, *string);
		if (s->length == length && memcmp(s->text, text, length) == 0)
			return 0;
	}
	error = new_item(o, &o->strings, tag, sizeof(*s) + length + 1, string);
	if (error != 0)
		return error;
	s = OBJECT_AT(o, struct object_string, *string);
	s->length = (uint32_t)length;
	memcpy(s->text, text, length);
	return 0;
}

int
objects_namespace(struct objects *o, uint32_t name, uint32_t *namespace)
{
	struct object_namespace *n;
	int error;

	*namespace = OBJECT_AT(o, struct object_string, name)->namespace;
	if (*namespace != 0)
		return 0;
	error = arena_take(&o->arena, sizeof(*n), namespace);
	if (error != 0)
		return error;
	OBJECT_AT(o, struct object_string, name)->namespace = *namespace;
	n = OBJECT_AT(o, struct object_namespace, *namespace);
	n->name = name;
	if (o->last_namespace != 0)
		OBJECT_AT(o, struct object_namespace,
		    o->last_namespace)->next = *namespace;
	else
		o->first_namespace = *namespace;
	o->last_namespace = *namespace;
	return 0;
}

/* Links a new service in behind the last. */
static void
append_service(struct objects *o, uint32_t service)
{
	if (o->last_service != 0)
		OBJECT_AT(o, struct object_service,
		    o->last_service)->next = service;
	else
		o->first_service = service;
	o->last_service = service;
}

int
objects_service(struct objects *o, uint32_t namespace, uint32_t name,
    bool imported, uint32_t *service)
{
	struct object_key key = { .kind = imported, .namespace = namespace,
	    .name = name };
	uint32_t tag = tag_of(&key, sizeof(key));
	struct object_service *s;
	size_t step = 0;
	int error;

	while ((*service = build_index_next(&o->services, tag, &step)) != 0) {
		s = OBJECT_AT(o, struct object_service, *service);
		if (s->namespace == namespace && s->name == name &&
		    s->imported == imported)
			return 0;
	}
	error = new_item(o, &o->services, tag, sizeof(*s), service);
	if (error != 0)
		return error;
	s = OBJECT_AT(o, struct object_service, *service);
	s->namespace = namespace;
	s->name = name;
	s->imported = imported;
	append_service(o, *service);
	return 0;
}

int
objects_add_address(struct objects *o, uint32_t service, uint32_t *address)
{
	int error = arena_take(&o->arena, sizeof(struct object_address),
	    address);
	struct object_service *s;

	if (error != 0)
		return error;
	s = OBJECT_AT(o, struct object_service, service);
	if (s->last_address != 0)
		OBJECT_AT(o, struct object_address,
		    s->last_address)->next = *address;
	else
		s->first_address = *address;
	s->last_address = *address;
	return 0;
}

int
objects_add_endpoint(struct objects *o, uint32_t service, uint32_t *endpoint)
{
	int error = arena_take(&o->arena, sizeof(struct object_endpoint),
	    endpoint);
	struct object_service *s;

	if (error != 0)
		return error;
	s = OBJECT_AT(o, struct object_service, service);
	if (s->last_endpoint != 0)
		OBJECT_AT(o, struct object_endpoint,
		    s->last_endpoint)->next = *endpoint;
	else
		s->first_endpoint = *endpoint;
	s->last_endpoint = *endpoint;
	return 0;
}

int
objects_add_ports(struct objects *o, uint32_t count, uint32_t *ports)
{
	int error = arena_take(&o->arena, sizeof(struct object_ports) +
	    count * sizeof(struct object_port), ports);

	if (error == 0)
		OBJECT_AT(o, struct object_ports, *ports)->count = count;
	return error;
}

void
objects_append(struct objects *o, struct object_list *list, uint32_t item)
{
	if (list->last != 0)
		*OBJECT_AT(o, uint32_t, list->last) = item;
	else
		list->first = item;
	list->last = item;
}

int
objects_see(struct objects *o, const char *kind, const char *namespace,
    const char *name, uint32_t line, struct object_origin *first)
{
	struct object_key key = { .cluster = o->cluster };
	struct object_seen *seen;
	uint32_t tag, handle;
	size_t step = 0;
	int error = objects_string(o, kind, strlen(kind), &key.kind);

	*first = (struct object_origin){ .line = 0 };
	if (error == 0)
		error = objects_string(o, namespace, strlen(namespace),
		    &key.namespace);
	if (error == 0)
		error = objects_string(o, name, strlen(name), &key.name);
	if (error != 0)
		return error;
	tag = tag_of(&key, sizeof(key));
	while ((handle = build_index_next(&o->seen, tag, &step)) != 0) {
		seen = OBJECT_AT(o, struct object_seen, handle);
		if (memcmp(&seen->key, &key, sizeof(key)) == 0) {
			*first = seen->origin;
			return 0;
		}
	}
	error = new_item(o, &o->seen, tag, sizeof(*seen), &handle);
	if (error != 0)
		return error;
	seen = OBJECT_AT(o, struct object_seen, handle);
	seen->key = key;
	seen->origin = (struct object_origin){ line, o->source };
	return 0;
}

const char *
objects_text(const struct objects *o, uint32_t string)
{
	return string != 0 ?
	    OBJECT_AT(o, const struct object_string, string)->text : "";
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One walk over all fields (the lists of mesh.h) both reads and writes, so that
 * the two cannot differ.  Numbers are as in memory; a text is its size with the
 * final NUL, 0 for NULL, and its octets.  Addresses are not written.
 */
#include "resolver/compile/mesh_codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/compile/formats.h"
#include "resolver/version.h"

#define TEXT_MAX	((size_t)1 << 20)	/* that of a config */
#define LIST_MAX	((size_t)1 << 16)
#define FORMAT_SIZE	32

struct walk {
	FILE *from;		/* NULL: it is written */
	FILE *to;
	int error;		/* the first; from then on nothing is done */
};

static void
fail(struct walk *w, int error)
{
	if (w->error == 0)
		w->error = error;
}

static void
walk_octets(struct walk *w, void *octets, size_t size)
{
	if (w->error != 0 || size == 0)
		return;
	if (w->from != NULL && fread(octets, 1, size, w->from) != size)
		fail(w, -EPROTO);
	if (w->to != NULL && fwrite(octets, 1, size, w->to) != size)
		fail(w, -EIO);
}

#define WALK_VALUE(w, value) walk_octets(w, &(value), sizeof(value))

/* How many of something there are. */
static void
walk_count(struct walk *w, size_t *count, size_t most)
{
	size_t there = *count;

	WALK_VALUE(w, there);
	if (w->error == 0 && there > most)
		fail(w, w->from != NULL ? -EPROTO : -E2BIG);
	if (w->error == 0)
		*count = there;
}

/* Room for what is to be read. */
static void *
make_room(struct walk *w, size_t count, size_t size)
{
	void *room = calloc(count + 1, size);

	if (room == NULL)
		fail(w, -ENOMEM);
	return room;
}

static void
walk_text(struct walk *w, char **text)
{
	size_t size = w->from != NULL || *text == NULL ? 0 : strlen(*text) + 1;

	walk_count(w, &size, TEXT_MAX);
	if (w->error != 0 || size == 0)
		return;
	if (w->from != NULL && (*text = make_room(w, size, 1)) == NULL)
		return;
	walk_octets(w, *text, size);
}

static void
walk_texts(struct walk *w, struct mesh_texts *list)
{
	size_t count = list->count;

	walk_count(w, &count, LIST_MAX);
	if (w->error != 0 || count == 0)
		return;
	if (w->from != NULL &&
	    (list->texts = make_room(w, count, sizeof(char *))) == NULL)
		return;
	list->count = count;
	for (size_t i = 0; i < count; i++)
		walk_text(w, &list->texts[i]);
}

static void
walk_format(struct walk *w, const struct source_format **format)
{
	char name[FORMAT_SIZE] = "";

	if (w->to != NULL)
		(void)snprintf(name, sizeof(name), "%s", (*format)->name);
	WALK_VALUE(w, name);
	name[sizeof(name) - 1] = '\0';
	if (w->from != NULL && (*format = formats_find(name)) == NULL)
		fail(w, -EPROTO);
}

static void
walk_source(struct walk *w, struct mesh_source *source)
{
	walk_format(w, &source->format);
#define VALUE(type, name)	WALK_VALUE(w, source->name);
#define TEXT(name)		walk_text(w, &source->name);
#define TEXTS(name)		walk_texts(w, &source->name);
	MESH_SOURCE_FIELDS(VALUE, TEXT, TEXTS)
#undef TEXTS
#undef TEXT
#undef VALUE
}

static void
walk_sources(struct walk *w, struct mesh *mesh)
{
	size_t count = mesh->source_count;

	walk_count(w, &count, LIST_MAX);
	if (w->error != 0)
		return;
	if (w->from != NULL && (mesh->sources = make_room(w, count,
	    sizeof(*mesh->sources))) == NULL)
		return;
	mesh->source_count = count;
	for (size_t i = 0; i < count; i++)
		walk_source(w, &mesh->sources[i]);
}

static void
walk_zones(struct walk *w, struct mesh *mesh)
{
	walk_count(w, &mesh->zone_count, MESH_MAX_ZONES);
	for (size_t i = 0; i < mesh->zone_count; i++) {
#define VALUE(type, name)	WALK_VALUE(w, mesh->zones[i].name);
		MESH_ZONE_FIELDS(VALUE)
#undef VALUE
	}
}

static void
walk_mesh(struct walk *w, struct mesh *mesh)
{
#define VALUE(type, name)	WALK_VALUE(w, mesh->name);
#define TEXT(name)		walk_text(w, &mesh->name);
#define ARRAY(type, name, count, most) \
	walk_count(w, &mesh->count, most); \
	for (size_t i = 0; i < mesh->count; i++) \
		WALK_VALUE(w, mesh->name[i]);
	MESH_FIELDS(VALUE, TEXT, ARRAY)
#undef ARRAY
#undef TEXT
#undef VALUE
	walk_sources(w, mesh);
	walk_zones(w, mesh);
}

/* What tells the octets of one build of the program from another's. */
static void
walk_stamp(struct walk *w)
{
	const struct stamp {
		char version[32];
		size_t sizes[2];
	} ours = { NFDNS_VERSION,
		{ sizeof(struct mesh), sizeof(struct mesh_source) } };
	struct stamp stamp = ours;

	WALK_VALUE(w, stamp);
	if (memcmp(&stamp, &ours, sizeof(ours)) != 0)
		fail(w, -EPROTO);
}

int
mesh_codec_write(const struct mesh *mesh, FILE *file)
{
	struct walk w = { .to = file };
	struct mesh *copy = malloc(sizeof(*copy));

	if (copy == NULL)
		return -ENOMEM;
	*copy = *mesh;		/* the walk might write, were it reading */
	walk_stamp(&w);
	walk_mesh(&w, copy);
	free(copy);
	return w.error;
}

int
mesh_codec_read(struct mesh *mesh, FILE *file)
{
	struct walk w = { .from = file };

	memset(mesh, 0, sizeof(*mesh));
	walk_stamp(&w);
	walk_mesh(&w, mesh);
	if (w.error != 0)
		mesh_clear(mesh);
	return w.error;
}

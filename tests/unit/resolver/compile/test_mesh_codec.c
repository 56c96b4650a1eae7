/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/compile/mesh_codec.h"
#include "resolver/compile/formats.h"

static char *namespaces[] = { (char[]){ "shop" }, (char[]){ "" } };

/* Every field is something that nobody would get by forgetting it. */
static struct mesh_source sources[] = {
	{
		.path = (char[]){ "/etc/nfdns/objects.json" },
		.feed = (char[]){ "mesh" }, .stale_after = 63,
		.origin = (char[]){ "other.example." },
		.ttl = 61,
		.namespaces = { namespaces, 2 },
		.cluster = (char[]){ "east" },
		.network = (char[]){ "net-1" },
		.pods = PODS_VERIFIED,
		.watch = true,
		.line = 17,
	},
	{
		.path = (char[]){ "/etc/nfdns/mesh.zone" },
		.origin = (char[]){ "mesh.example." },
	},
};

static struct mesh mesh = {
	.namespace = (char[]){ "default" },
	.cluster = (char[]){ "west" },
	.network = (char[]){ "net-2" },
	.search_count = MESH_MAX_SEARCH,
	.ttl = 62,
	.shrink_limit = 64,
	.sources = sources,
	.source_count = 2,
	.zone_count = MESH_MAX_ZONES,
};

static const struct mesh *
whole_mesh(void)
{
	char text[32];

	sources[0].format = formats_find("kubernetes");
	sources[1].format = formats_find("zone");
	CHECK(name_from_text(&mesh.domain, "cluster.local", 13) == 0);
	for (size_t i = 0; i < MESH_MAX_SEARCH; i++) {
		int length = snprintf(text, sizeof(text), "search%zu", i);

		CHECK(name_from_text(&mesh.search[i], text,
		    (size_t)length) == 0);
	}
	for (size_t i = 0; i < MESH_MAX_ZONES; i++) {
		int length = snprintf(text, sizeof(text), "zone%zu", i);

		CHECK(name_from_text(&mesh.zones[i].name, text,
		    (size_t)length) == 0);
		mesh.zones[i].unknown = i % 2 == 0 ? ZONE_NXDOMAIN : ZONE_PASS;
	}
	return &mesh;
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
same_texts(const struct mesh_texts *a, const struct mesh_texts *b)
{
	for (size_t i = 0; i < a->count && a->count == b->count; i++)
		if (!same_text(a->texts[i], b->texts[i]))
			return false;
	return a->count == b->count;
}

/* Field by field, by the lists of mesh.h. */
#define SAME_VALUE(type, name) \
	same = same && memcmp(&a->name, &b->name, sizeof(type)) == 0;
#define SAME_TEXT(name)		same = same && same_text(a->name, b->name);
#define SAME_TEXTS(name)	same = same && same_texts(&a->name, &b->name);
#define SAME_ARRAY(type, name, count, most) \
	same = same && a->count == b->count && \
	    memcmp(a->name, b->name, a->count * sizeof(type)) == 0;

static bool
same_source(const struct mesh_source *a, const struct mesh_source *b)
{
	bool same = a->format == b->format;

	MESH_SOURCE_FIELDS(SAME_VALUE, SAME_TEXT, SAME_TEXTS)
	return same;
}

static bool
same_zone(const struct mesh_zone *a, const struct mesh_zone *b)
{
	bool same = true;

	MESH_ZONE_FIELDS(SAME_VALUE)
	return same;
}

static bool
same_mesh(const struct mesh *a, const struct mesh *b)
{
	bool same = a->source_count == b->source_count &&
	    a->zone_count == b->zone_count;

	MESH_FIELDS(SAME_VALUE, SAME_TEXT, SAME_ARRAY)
	for (size_t i = 0; same && i < a->source_count; i++)
		same = same_source(&a->sources[i], &b->sources[i]);
	for (size_t i = 0; same && i < a->zone_count; i++)
		same = same_zone(&a->zones[i], &b->zones[i]);
	return same;
}

static bool
is_set(const void *octets, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (((const uint8_t *)octets)[i] != 0)
			return true;
	return false;
}

static void
check_set(const char *name, bool set)
{
	if (!set)
		printf("  not set: %s\n", name);
	CHECK(set);
}

#define SET_VALUE(type, name)	check_set(#name, is_set(&a->name, sizeof(type)));
#define SET_TEXT(name)		check_set(#name, a->name != NULL);
#define SET_TEXTS(name)		check_set(#name, a->name.count > 0);
#define SET_ARRAY(type, name, count, most) \
	check_set(#name, a->count == (most));

static void
check_source_is_set(const struct mesh_source *a)
{
	MESH_SOURCE_FIELDS(SET_VALUE, SET_TEXT, SET_TEXTS)
}

/* Zeros are what a codec that forgets a field would read. */
static void
every_field_is_set(void)
{
	const struct mesh *a = whole_mesh();

	MESH_FIELDS(SET_VALUE, SET_TEXT, SET_ARRAY)
	check_source_is_set(&a->sources[0]);
}

static void
what_is_read_is_what_was_written(void)
{
	const struct mesh *a = whole_mesh();
	FILE *file = tmpfile();
	struct mesh b;

	CHECK(mesh_codec_write(a, file) == 0);
	rewind(file);
	CHECK(mesh_codec_read(&b, file) == 0);
	CHECK(same_mesh(a, &b));
	mesh_clear(&b);
	(void)fclose(file);
}

/* Wherever it ends, it is refused and nothing is left of it. */
static void
half_a_file_is_refused(void)
{
	char *octets = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&octets, &size);
	struct mesh copy;

	CHECK(mesh_codec_write(whole_mesh(), out) == 0);
	CHECK(fclose(out) == 0);
	for (size_t length = 1; length < size; length += 7) {
		FILE *file = fmemopen(octets, length, "r");

		CHECK(mesh_codec_read(&copy, file) == -EPROTO);
		CHECK(copy.sources == NULL && copy.namespace == NULL);
		(void)fclose(file);
	}
	free(octets);
}

/* The first octets say which program wrote it. */
static void
file_of_another_build_is_refused(void)
{
	FILE *file = tmpfile();
	struct mesh copy;

	CHECK(mesh_codec_write(whole_mesh(), file) == 0);
	rewind(file);
	(void)fputc('x', file);
	rewind(file);
	CHECK(mesh_codec_read(&copy, file) == -EPROTO);
	(void)fclose(file);
}

static void
full_disk_is_an_error(void)
{
	FILE *file = fopen("/dev/full", "we");

	CHECK(file != NULL);
	(void)setvbuf(file, NULL, _IONBF, 0);
	CHECK(mesh_codec_write(whole_mesh(), file) == -EIO);
	(void)fclose(file);
}

int
main(void)
{
	TEST(every_field_is_set);
	TEST(what_is_read_is_what_was_written);
	TEST(half_a_file_is_refused);
	TEST(file_of_another_build_is_refused);
	TEST(full_disk_is_an_error);
	return test_summary();
}

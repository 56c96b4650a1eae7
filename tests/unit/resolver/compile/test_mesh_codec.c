/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/compile/mesh_codec.h"
#include "resolver/compile/formats.h"

static char *namespaces[] = { (char[]){ "shop" }, (char[]){ "" } };
static char *nameservers[] = { (char[]){ "10.96.0.10" } };

/* Every field is something that nobody would get by forgetting it. */
static struct mesh_source sources[] = {
	{
		.path = (char[]){ "/etc/nfdns/objects.json" },
		.ttl = 61,
		.namespaces = { namespaces, 2 },
		.nameservers = { nameservers, 1 },
		.cluster = (char[]){ "east" },
		.network = (char[]){ "net-1" },
		.clusterset = (char[]){ "clusterset.local" },
		.pods = PODS_VERIFIED,
		.ignore_empty = true,
		.endpoint_pod_names = true,
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
	.multicluster_headless = true,
	.auto_allocate = AUTO_ALLOCATE_BOTH,
	.search_count = MESH_MAX_SEARCH,
	.ttl = 62,
	.negative_ttl = 63,
	.udp_size = 1232,
	.suppress_https = true, .tcp = true,
	.unloaded = UNLOADED_SERVFAIL,
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

static bool
same_source(const struct mesh_source *a, const struct mesh_source *b)
{
	return a->format == b->format && same_text(a->path, b->path) &&
	    same_text(a->origin, b->origin) && a->ttl == b->ttl &&
	    same_texts(&a->namespaces, &b->namespaces) &&
	    same_texts(&a->nameservers, &b->nameservers) &&
	    same_text(a->cluster, b->cluster) &&
	    same_text(a->network, b->network) &&
	    same_text(a->clusterset, b->clusterset) && a->pods == b->pods &&
	    a->ignore_empty == b->ignore_empty &&
	    a->endpoint_pod_names == b->endpoint_pod_names &&
	    a->watch == b->watch && a->line == b->line;
}

static bool
same_names(const struct mesh *a, const struct mesh *b)
{
	for (size_t i = 0; i < MESH_MAX_ZONES; i++)
		if (memcmp(&a->zones[i].name, &b->zones[i].name,
		    sizeof(a->zones[i].name)) != 0 ||
		    a->zones[i].unknown != b->zones[i].unknown)
			return false;
	return a->zone_count == b->zone_count &&
	    a->search_count == b->search_count &&
	    memcmp(a->search, b->search, sizeof(a->search)) == 0 &&
	    memcmp(&a->domain, &b->domain, sizeof(a->domain)) == 0;
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
	CHECK(same_names(a, &b));
	CHECK(same_text(a->namespace, b.namespace));
	CHECK(same_text(a->cluster, b.cluster));
	CHECK(same_text(a->network, b.network));
	CHECK(a->multicluster_headless == b.multicluster_headless);
	CHECK(a->auto_allocate == b.auto_allocate);
	CHECK(a->ttl == b.ttl && a->negative_ttl == b.negative_ttl);
	CHECK(a->udp_size == b.udp_size);
	CHECK(a->suppress_https == b.suppress_https);
	CHECK(a->tcp == b.tcp);
	CHECK(a->unloaded == b.unloaded && a->shrink_limit == b.shrink_limit);
	CHECK(b.source_count == 2 && same_source(&sources[0], &b.sources[0]) &&
	    same_source(&sources[1], &b.sources[1]));
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
	TEST(what_is_read_is_what_was_written);
	TEST(half_a_file_is_refused);
	TEST(file_of_another_build_is_refused);
	TEST(full_disk_is_an_error);
	return test_summary();
}

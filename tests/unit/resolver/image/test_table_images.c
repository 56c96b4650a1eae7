/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images of many small tables: without filters they answer the same, and damaged,
 * hostile or none at all they are harmless.
 */
#include <errno.h>
#include <stdlib.h>

#include "resolver/image/image.h"
#include "tests/check.h"
#include "tests/image.h"

/* The image of a small table with something of everything. */
static uint8_t *
small_image(size_t *size)
{
	struct mesh_source sources[] = { { .path = (char[]){ "s" } } };
	struct mesh mesh = { .zone_count = 1,
	    .search_count = 1, .sources = sources, .source_count = 1 };
	struct dns_name owner = name_of("a.z"), other = name_of("b");
	int fd = memory_file(NULL, 0);
	struct builder *b;
	uint8_t *image;

	mesh.zones[0] = (struct mesh_zone){ .name = name_of("z"),
	    .unknown = ZONE_NXDOMAIN };
	mesh.search[0] = name_of("s");
	b = builder_new(&mesh);
	MUST(add_address(b, "a.z", 0, "10.0.0.1") == 0);
	MUST(add_address(b, "a.z", 0, "::1") == 0);
	MUST(add_address(b, "*.w", 0, "10.0.0.2") == 0);
	MUST(builder_add(b, &owner, 0, TYPE_CNAME, 1, "\1b", 3, 1) == 0);
	MUST(builder_add(b, &owner, 0, TYPE_TXT, 1, "\1b", 2, 1) == 0);
	MUST(builder_alias(b, &owner, &other, 0, 1) == 0);
	MUST(builder_write(b, fd) == 0);
	*size = (size_t)lseek(fd, 0, SEEK_END);
	image = malloc(*size);
	MUST(image != NULL && pread(fd, image, *size, 0) == (ssize_t)*size);
	close(fd);
	builder_free(b);
	return image;
}

static struct table *
open_octets(const uint8_t *image, size_t size, const char **why)
{
	int fd = memory_file(image, size);
	struct table *t;
	int error = table_open(&t, fd, why);

	close(fd);
	MUST((error == 0) == (t != NULL) && (error == 0 || *why != NULL));
	return t;
}

/* One of few labels, so that names meet; now and then a long one. */
static size_t
random_name(unsigned int *seed, unsigned int most, char *text)
{
	static const char *const labels[] = { "a", "b", "c", "svc", "www",
	    "local", "eight-oc", "cluster", "a-label-of-twenty-two" };
	size_t length = 0;

	for (unsigned int n = 1 + (unsigned int)rand_r(seed) % most; n > 0; n--)
		length += (size_t)snprintf(text + length, 64, "%s%s", labels[
		    (size_t)rand_r(seed) % (sizeof(labels) /
		    sizeof(labels[0]))], n > 1 ? "." : "");
	return length;
}

/* An image of random names, wildcards and search domains. */
static uint8_t *
random_image(unsigned int *seed, struct mesh *mesh, size_t *size)
{
	unsigned int names = (unsigned int)rand_r(seed) % 20;
	unsigned int deepest = 2 + (unsigned int)rand_r(seed) % 3;
	int fd = memory_file(NULL, 0);
	struct builder *b;
	uint8_t *image;
	char text[256];

	mesh->search_count = (size_t)rand_r(seed) % 4;
	for (size_t i = 0; i < mesh->search_count; i++) {
		(void)random_name(seed, deepest, text);
		mesh->search[i] = name_of(text);
	}
	b = builder_new(mesh);
	MUST(b != NULL);
	while (names-- > 0) {
		unsigned int what = (unsigned int)rand_r(seed) % 8;
		char *name = text;

		if (what == 0)
			name += snprintf(text, 3, "*.");
		(void)random_name(seed, deepest, name);
		MUST(add_address(b, text, what == 1 ? NAME_SHORT : 0,
		    "10.0.0.1") >= 0);
	}
	MUST(builder_write(b, fd) == 0);
	*size = (size_t)lseek(fd, 0, SEEK_END);
	image = malloc(*size);
	MUST(image != NULL && pread(fd, image, *size, 0) == (ssize_t)*size);
	close(fd);
	builder_free(b);
	return image;
}

/* The same table with filters that let every name through. */
static struct table *
without_filters(uint8_t *image, size_t size)
{
	const size_t unhashed = offsetof(struct image_header, wildcard_labels);
	struct image_header *header = (void *)image;
	const char *why;

	memset(image + header->tails, 0xff, header->slots - header->tails);
	header->checksum = XXH3_64bits(image + unhashed, size - unhashed);
	return open_octets(image, size, &why);
}

/* A name of the table, of random labels, or one with the other behind it. */
static void
random_question(unsigned int *seed, const struct table *t,
    const struct mesh *mesh, struct dns_name *name)
{
	size_t cursor = (size_t)rand_r(seed) % 32;
	char text[256];
	uint32_t node;
	uint8_t flags;

	if (rand_r(seed) % 2 != 0 ||
	    !table_next(t, &cursor, name, &node, &flags)) {
		(void)random_name(seed, 5, text);
		*name = name_of(text);
	}
	for (int i = rand_r(seed) % 3; i > 0 && mesh->search_count > 0; i--)
		MUST(name_join(name, name, &mesh->search[
		    (size_t)rand_r(seed) % mesh->search_count]) == 0);
}

/* That a name is not there is known sooner; what is there stays. */
TEST(filters_change_no_answer)
{
	struct mesh mesh = { .ttl = 30 };
	unsigned int seed = 20, found = 0;

	for (int tables = 0; tables < 400; tables++) {
		size_t size;
		uint8_t *image = random_image(&seed, &mesh, &size);
		const char *why;
		struct table *with = open_octets(image, size, &why);
		struct table *without = without_filters(image, size);
		unsigned int different = 0;

		MUST(with != NULL && without != NULL);
		for (int i = 0; i < 500; i++) {
			struct entry a, b;
			struct dns_name name;
			char text[NAME_TEXT_SIZE];

			random_question(&seed, with, &mesh, &name);
			table_find(with, &name, &a);
			table_find(without, &name, &b);
			found += a.kind != ENTRY_NONE;
			if (a.kind == b.kind && a.node == b.node &&
			    a.flags == b.flags &&
			    a.target_length == b.target_length &&
			    (a.target_search == NULL) ==
			    (b.target_search == NULL))
				continue;
			printf("  %s: %d, %d without filters\n", name_to_text(
			    name.octets, text), a.kind, b.kind);
			different++;
		}
		CHECK(different == 0);
		table_close(with);
		table_close(without);
		free(image);
	}
	/* Of 200,000: neither all of them nor hardly any. */
	CHECK(found > 20000 && found < 180000);
}

/* Looks at all there is; the sanitizers say whether that was too much. */
static unsigned int
read_all(const struct table *t)
{
	static const char *const names[] = { "a.z", "b", "z", "x.w", "a.z.s",
	    "x.w.s", ".", "n.z" };
	unsigned int sum = 0;
	struct dns_name name;
	size_t cursor = 0;
	uint32_t node;
	uint8_t flags;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		sum += find(t, names[i]).kind;
	while (table_next(t, &cursor, &name, &node, &flags)) {
		struct rrset r;

		for (size_t i = 0; table_rrset_at(t, node, i, &r); i++)
			sum += r.rdata[0];
		sum += name.octets[name.length - 1];
	}
	return sum;
}

TEST(every_damaged_octet_is_noticed)
{
	size_t size;
	uint8_t *image = small_image(&size);
	const char *why = NULL;
	struct table *t = open_octets(image, size, &why);

	MUST(t != NULL);
	CHECK(find(t, "b").kind == ENTRY_EXACT);
	table_close(t);
	for (size_t i = 0; i < size; i++) {
		image[i] ^= 0x41;
		t = open_octets(image, size, &why);
		if (t != NULL) {
			printf("  octet %zu changed unnoticed\n", i);
			CHECK(t == NULL);
			table_close(t);
		}
		image[i] ^= 0x41;
	}
	for (size_t cut = 0; cut < size; cut++)
		CHECK(open_octets(image, cut, &why) == NULL);
	free(image);
}

/* A hostile image has the right checksum: the walk must find what matters. */
TEST(hostile_images_are_refused_or_harmless)
{
	static const uint8_t flips[] = { 0x01, 0x04, 0x80, 0xff };
	const size_t unhashed = offsetof(struct image_header, wildcard_labels);
	unsigned int refused = 0;
	size_t size;
	uint8_t *image = small_image(&size);
	struct image_header *header = (void *)image;
	const char *why;

	for (size_t i = 0; i < size * sizeof(flips); i++) {
		struct table *t;

		image[i / sizeof(flips)] ^= flips[i % sizeof(flips)];
		header->checksum = XXH3_64bits(image + unhashed,
		    size - unhashed);
		t = open_octets(image, size, &why);
		if (t != NULL)
			(void)read_all(t);
		else
			refused++;
		table_close(t);
		image[i / sizeof(flips)] ^= flips[i % sizeof(flips)];
	}
	CHECK(refused > size);
	free(image);
}

TEST(what_is_no_image)
{
	static const char text[200] = "mesh = { }";
	const char *why = NULL;
	struct table *t;
	int pipes[2];

	CHECK(open_octets((const void *)text, sizeof(text), &why) == NULL);
	CHECK(strcmp(why, "not a table image") == 0);
	CHECK(table_open(&t, -1, &why) == -EBADF && t == NULL);
	MUST(pipe(pipes) == 0);
	CHECK(table_open(&t, pipes[0], &why) == -EINVAL && t == NULL);
	close(pipes[0]);
	close(pipes[1]);
	table_close(NULL);
}

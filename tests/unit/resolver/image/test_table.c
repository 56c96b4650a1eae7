/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "resolver/image/image.h"
#include "tests/check.h"
#include "tests/image.h"

/* The table of "names", each with one address; none of them is owned. */
static struct table *
table_with(const struct mesh *mesh, const char *const names[])
{
	struct builder *b = builder_new(mesh);
	struct table *t;

	for (size_t i = 0; names[i] != NULL; i++) {
		char address[32];

		(void)snprintf(address, sizeof(address), "10.0.0.%zu", i);
		MUST(add_address(b, names[i], 0, address) == BUILDER_ADDED);
	}
	t = table_of(b);
	builder_free(b);
	return t;
}

/* The number in names[] of the entry whose record was found, or -1. */
static int
which(const struct table *t, const struct entry *e)
{
	struct rrset r;

	return table_rrset(t, e->node, TYPE_A, &r) ? r.rdata[3] : -1;
}

static void
wildcard_order(void)
{
	static const struct mesh mesh = { .ttl = 30 };
	struct table *t = table_with(&mesh, (const char *const[]){
	    "*.wildcard", "*.b.wildcard", "x.b.wildcard", "deep.x.c.wildcard",
	    NULL });
	struct entry e;

	e = find(t, "foo.wildcard");
	CHECK(e.kind == ENTRY_WILDCARD && which(t, &e) == 0);
	e = find(t, "a.b.c.wildcard");
	CHECK(e.kind == ENTRY_WILDCARD && which(t, &e) == 0);
	e = find(t, "a.b.wildcard");
	CHECK(e.kind == ENTRY_WILDCARD && which(t, &e) == 1);
	e = find(t, "far.below.b.wildcard");
	CHECK(e.kind == ENTRY_WILDCARD && which(t, &e) == 1);
	/* The apex of one wildcard lies below the other. */
	e = find(t, "b.wildcard");
	CHECK(e.kind == ENTRY_WILDCARD && which(t, &e) == 0);
	e = find(t, "x.b.wildcard");
	CHECK(e.kind == ENTRY_EXACT && which(t, &e) == 2);
	/* An exact name elsewhere blocks nothing (unlike RFC 4592). */
	e = find(t, "y.x.b.wildcard");
	CHECK(e.kind == ENTRY_WILDCARD && which(t, &e) == 1);
	e = find(t, "x.c.wildcard");
	CHECK(e.kind == ENTRY_WILDCARD && which(t, &e) == 0);
	e = find(t, "*.wildcard");
	CHECK(e.kind == ENTRY_WILDCARD && which(t, &e) == 0);
	CHECK(find(t, "wildcard").kind == ENTRY_NONE);
	CHECK(find(t, ".").kind == ENTRY_NONE);
	CHECK(find(t, "a.wildcardx").kind == ENTRY_NONE);
	CHECK(find(t, "xwildcard").kind == ENTRY_NONE);
	/* Octets of a label that look like labels. */
	CHECK(find(t, "a\\001b\\008wildcard").kind == ENTRY_NONE);
	table_close(t);
}

static void
wildcard_of_everything(void)
{
	static const struct mesh mesh = { .ttl = 30 };
	struct table *t = table_with(&mesh, (const char *const[]){ "*", NULL });

	CHECK(find(t, "any.name").kind == ENTRY_WILDCARD);
	CHECK(find(t, "a").kind == ENTRY_WILDCARD);
	CHECK(find(t, ".").kind == ENTRY_NONE);
	table_close(t);
}

static void
search_list(void)
{
	struct mesh mesh = { .search_count = 3 };
	struct table *t;
	struct entry e;

	mesh.search[0] = name_of("ns1.svc.cluster.local");
	mesh.search[1] = name_of("svc.cluster.local");
	mesh.search[2] = name_of("cluster.local");
	t = table_with(&mesh, (const char *const[]){ "www.google.com",
	    "productpage.ns1.svc.cluster.local", "productpage.ns1",
	    "productpage", "*.wildcard", NULL });

	e = find(t, "www.google.com.ns1.svc.cluster.local");
	CHECK(e.kind == ENTRY_SEARCH && which(t, &e) == 0);
	CHECK(e.target_length == 15);
	e = find(t, "www.google.com.svc.cluster.local");
	CHECK(e.kind == ENTRY_SEARCH && which(t, &e) == 0);
	e = find(t, "www.google.com.cluster.local");
	CHECK(e.kind == ENTRY_SEARCH && which(t, &e) == 0);
	CHECK(find(t, "www.google.com.local").kind == ENTRY_NONE);
	CHECK(find(t, "bing.com.cluster.local").kind == ENTRY_NONE);
	/* The name itself goes before any expansion. */
	e = find(t, "productpage.ns1.svc.cluster.local");
	CHECK(e.kind == ENTRY_EXACT && which(t, &e) == 1);
	e = find(t, "productpage.ns1.ns1.svc.cluster.local");
	CHECK(e.kind == ENTRY_SEARCH && which(t, &e) == 2);
	e = find(t, "foo.wildcard.ns1.svc.cluster.local");
	CHECK(e.kind == ENTRY_SEARCH_WILDCARD && which(t, &e) == 4);
	CHECK(e.target_length == 13);
	/* NAME ends in the search domain already. */
	CHECK(find(t, "productpage.ns1.svc.cluster.local."
	    "ns1.svc.cluster.local").kind == ENTRY_NONE);
	/* NAME may not be empty. */
	CHECK(find(t, "ns1.svc.cluster.local").kind == ENTRY_NONE);
	CHECK(find(t, "cluster.local").kind == ENTRY_NONE);
	table_close(t);
}

/* A service's shorter name counts when no other name comes of the search. */
static void
search_list_and_short_names(void)
{
	struct mesh mesh = { .search_count = 2 };
	struct builder *b;
	struct table *t;
	struct entry e;

	mesh.search[0] = name_of("c.a.example");
	mesh.search[1] = name_of("a.example");
	b = builder_new(&mesh);
	MUST(b != NULL && add_address(b, "web.c", NAME_OWNED | NAME_SHORT,
	    "10.0.0.1") == 0 && add_address(b, "db.c", NAME_OWNED | NAME_SHORT,
	    "10.0.0.2") == 0 && add_address(b, "db.c.a.example", NAME_OWNED,
	    "10.0.0.2") == 0);
	t = table_of(b);
	builder_free(b);
	e = find(t, "web.c.a.example");
	CHECK(e.kind == ENTRY_SEARCH && e.target_length == 6);
	CHECK(e.target_search == NULL);
	e = find(t, "db.c.c.a.example");
	CHECK(e.kind == ENTRY_SEARCH && e.target_length == 5);
	CHECK(e.target_search != NULL && e.target_search->labels == 2);
	CHECK(find(t, "web.c").kind == ENTRY_EXACT);
	e = find(t, "none.a.example");
	CHECK(e.kind == ENTRY_NONE && e.target_length == 0);
	table_close(t);
}

static void
search_domain_below_itself(void)
{
	struct mesh mesh = { .search_count = 1 };
	struct table *t;

	mesh.search[0] = name_of("corp");
	t = table_with(&mesh, (const char *const[]){ "corp", "a.corp",
	    "*.b.corp", NULL });
	CHECK(find(t, "corp.corp").kind == ENTRY_NONE);
	CHECK(find(t, "a.corp.corp").kind == ENTRY_NONE);
	CHECK(find(t, "x.b.corp.corp").kind == ENTRY_NONE);
	CHECK(find(t, "a.corp").kind == ENTRY_EXACT);
	table_close(t);
}

/* As long as a list may be, and what stands behind it is none of it. */
static void
longest_search_list(void)
{
	struct mesh mesh = { .search_count = MESH_MAX_SEARCH,
	    .zone_count = 1 };
	struct table *t;
	struct entry e;

	for (int i = 0; i < MESH_MAX_SEARCH; i++) {
		char text[8];

		(void)snprintf(text, sizeof(text), "s%02d", i);
		mesh.search[i] = name_of(text);
	}
	mesh.zones[0] = (struct mesh_zone){ name_of("out"), ZONE_PASS };
	t = table_with(&mesh, (const char *const[]){ "a", "b.s31", "c.out",
	    NULL });
	e = find(t, "a.s00");
	CHECK(e.kind == ENTRY_SEARCH && which(t, &e) == 0);
	e = find(t, "a.s31");
	CHECK(e.kind == ENTRY_SEARCH && which(t, &e) == 0);
	e = find(t, "b.s00");
	CHECK(e.kind == ENTRY_SEARCH && which(t, &e) == 1);
	CHECK(e.target_search != NULL && e.target_length == 2);
	CHECK(find(t, "c.s00").kind == ENTRY_NONE);
	CHECK(find(t, "a.out").kind == ENTRY_NONE);
	table_close(t);
}

static void
longest_names(void)
{
	struct mesh mesh = { .search_count = 1 };
	char label[64], text[300];
	struct table *t;
	struct entry e;

	mesh.search[0] = name_of("c");
	memset(label, 'a', 63);
	label[63] = '\0';
	/* 3 * 64 + 57 + root = 250 octets; with ".c" 252, with "*" 252. */
	(void)snprintf(text, sizeof(text), "%s.%s.%s.%.56s", label, label,
	    label, label);
	t = table_with(&mesh, (const char *const[]){ text, "*.w", NULL });
	CHECK(find(t, text).kind == ENTRY_EXACT);
	(void)snprintf(text, sizeof(text), "%s.%s.%s.%.56s.c", label, label,
	    label, label);
	e = find(t, text);
	CHECK(e.kind == ENTRY_SEARCH && e.target_length == 249);
	text[0] = '\0';
	for (int i = 0; i < 126; i++)
		memcpy(text + i * 2, "a.", 3);
	memcpy(text + 252, "w", 2);
	CHECK(find(t, text).kind == ENTRY_WILDCARD);
	table_close(t);
}

static void
zones(void)
{
	struct mesh mesh = { .zone_count = 3 };
	struct table *t;
	struct entry e;

	mesh.zones[0] = (struct mesh_zone){ name_of("mesh"), ZONE_NXDOMAIN };
	mesh.zones[1] = (struct mesh_zone){ name_of("in.pass.mesh"), ZONE_PASS };
	mesh.zones[2] = (struct mesh_zone){ name_of("soft"), ZONE_PASS };
	t = table_with(&mesh, (const char *const[]){ "a.b.c.mesh",
	    "x.in.pass.mesh", "y.z.soft", "*.wild.mesh", NULL });

	e = find(t, "a.b.c.mesh");
	CHECK(e.kind == ENTRY_EXACT && e.in_zone && e.zone_labels == 1 &&
	    e.unknown == ZONE_NXDOMAIN);
	e = find(t, "b.c.mesh");
	CHECK(e.kind == ENTRY_EMPTY && e.node == 0 && e.zone_labels == 1);
	CHECK(find(t, "c.mesh").kind == ENTRY_EMPTY);
	CHECK(find(t, "wild.mesh").kind == ENTRY_EMPTY);
	CHECK(find(t, "x.wild.mesh").kind == ENTRY_WILDCARD);
	e = find(t, "mesh");
	CHECK(e.kind == ENTRY_EMPTY && e.in_zone && e.zone_labels == 1);
	e = find(t, "d.mesh");
	CHECK(e.kind == ENTRY_NONE && e.in_zone &&
	    e.unknown == ZONE_NXDOMAIN);
	/* A zone inside a zone: the deepest decides, its parents exist. */
	e = find(t, "no.in.pass.mesh");
	CHECK(e.kind == ENTRY_NONE && e.in_zone && e.unknown == ZONE_PASS &&
	    e.zone_labels == 3);
	e = find(t, "in.pass.mesh");
	CHECK(e.kind == ENTRY_NONE && e.unknown == ZONE_PASS);
	CHECK(find(t, "pass.mesh").kind == ENTRY_EMPTY);
	/* Where unknown names pass, no name is made up. */
	e = find(t, "z.soft");
	CHECK(e.kind == ENTRY_NONE && e.in_zone && e.unknown == ZONE_PASS);
	e = find(t, "elsewhere");
	CHECK(e.kind == ENTRY_NONE && !e.in_zone);
	CHECK(!find(t, "notmesh").in_zone);
	CHECK(!find(t, "a\\004mesh").in_zone);
	CHECK(table_names(t) == 4);
	table_close(t);
}

static void
non_terminals_give_way(void)
{
	struct mesh mesh = { .zone_count = 1,
	    .search_count = 1 };
	struct table *t;
	struct entry e;

	mesh.zones[0] = (struct mesh_zone){ name_of("mesh"), ZONE_NXDOMAIN };
	mesh.search[0] = name_of("mesh");
	t = table_with(&mesh, (const char *const[]){ "x.a.mesh", "a",
	    "y.b.w.mesh", "*.w.mesh", NULL });
	/* a.mesh is above x.a.mesh, and it is "a" with the search domain. */
	e = find(t, "a.mesh");
	CHECK(e.kind == ENTRY_SEARCH && which(t, &e) == 1 && e.in_zone);
	e = find(t, "b.w.mesh");
	CHECK(e.kind == ENTRY_WILDCARD && which(t, &e) == 3);
	/* A name without records is no target of the search list. */
	CHECK(find(t, "w.mesh.mesh").kind == ENTRY_NONE);
	table_close(t);
}

static void
sources_and_state(void)
{
	struct mesh_source sources[] = { { .path = (char[]){ "/etc/a" } },
	    { .path = (char[]){ "/etc/b.json" } } };
	struct mesh mesh = { .sources = sources, .source_count = 2, .search_count = 1 };
	struct builder *b;
	struct table *t;
	size_t length;

	mesh.search[0] = name_of("search.example");
	b = builder_new(&mesh);
	t = table_of(b);
	CHECK(table_is_loaded(t));
	CHECK(memcmp(table_source(t, 1, &length), "/etc/b.json", 11) == 0 &&
	    length == 11);
	CHECK(table_source(t, 2, &length) == NULL && length == 0);
	CHECK(table_names(t) == 0);
	CHECK(find(t, "x").kind == ENTRY_NONE);
	table_close(t);
	builder_set_unloaded(b);
	t = table_of(b);
	CHECK(!table_is_loaded(t));
	table_close(t);
	builder_free(b);
}

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

	mesh.zones[0] = (struct mesh_zone){ name_of("z"), ZONE_NXDOMAIN };
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
static void
filters_change_no_answer(void)
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

static void
every_damaged_octet_is_noticed(void)
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
static void
hostile_images_are_refused_or_harmless(void)
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

static void
what_is_no_image(void)
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

int
main(void)
{
	TEST(wildcard_order);
	TEST(wildcard_of_everything);
	TEST(search_list);
	TEST(search_list_and_short_names);
	TEST(search_domain_below_itself);
	TEST(longest_search_list);
	TEST(longest_names);
	TEST(zones);
	TEST(non_terminals_give_way);
	TEST(sources_and_state);
	TEST(filters_change_no_answer);
	TEST(every_damaged_octet_is_noticed);
	TEST(hostile_images_are_refused_or_harmless);
	TEST(what_is_no_image);
	return test_summary();
}

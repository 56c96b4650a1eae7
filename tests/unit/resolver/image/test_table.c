/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Look-ups in tables that were built: wildcards, search lists, zones, limits. */
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

TEST(wildcard_order)
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

TEST(wildcard_of_everything)
{
	static const struct mesh mesh = { .ttl = 30 };
	struct table *t = table_with(&mesh, (const char *const[]){ "*", NULL });

	CHECK(find(t, "any.name").kind == ENTRY_WILDCARD);
	CHECK(find(t, "a").kind == ENTRY_WILDCARD);
	CHECK(find(t, ".").kind == ENTRY_NONE);
	table_close(t);
}

TEST(search_list)
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
TEST(search_list_and_short_names)
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

TEST(search_domain_below_itself)
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
TEST(longest_search_list)
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
	mesh.zones[0] = (struct mesh_zone){ .name = name_of("out"),
	    .unknown = ZONE_PASS };
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

TEST(longest_names)
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

TEST(zones)
{
	struct mesh mesh = { .zone_count = 3 };
	struct table *t;
	struct entry e;

	mesh.zones[0] = (struct mesh_zone){ .name = name_of("mesh"),
	    .unknown = ZONE_NXDOMAIN };
	mesh.zones[1] = (struct mesh_zone){ .name = name_of("in.pass.mesh"),
	    .unknown = ZONE_PASS };
	mesh.zones[2] = (struct mesh_zone){ .name = name_of("soft"),
	    .unknown = ZONE_PASS };
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

TEST(non_terminals_give_way)
{
	struct mesh mesh = { .zone_count = 1,
	    .search_count = 1 };
	struct table *t;
	struct entry e;

	mesh.zones[0] = (struct mesh_zone){ .name = name_of("mesh"),
	    .unknown = ZONE_NXDOMAIN };
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

TEST(sources_and_state)
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

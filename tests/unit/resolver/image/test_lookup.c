/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chains of CNAMEs, in tables straight from the builder. */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "resolver/image/builder.h"
#include "resolver/image/lookup.h"
#include "resolver/dns/rr.h"

static struct mesh mesh;
static struct builder *builder;
static struct lookup lookup;

static struct dns_name
make(const char *text)
{
	struct dns_name name = { .length = 0 };

	CHECK(name_from_text(&name, text, strlen(text)) == 0);
	return name;
}

static void
begin(void)
{
	builder = builder_new(&mesh);
	if (builder == NULL)
		abort();
	builder_source(builder, 0);
}

static void
add_cname(const char *owner_text, const char *target_text)
{
	struct dns_name owner = make(owner_text), target = make(target_text);

	CHECK(builder_add(builder, &owner, 0, TYPE_CNAME, 30, target.octets,
	    target.length, 0) == BUILDER_ADDED);
}

static void
add_address(const char *owner_text)
{
	struct dns_name owner = make(owner_text);

	CHECK(builder_add(builder, &owner, 0, TYPE_A, 30, "\12\0\0\1", 4, 0) ==
	    BUILDER_ADDED);
}

/* n0.test to n1.test and so on, "links" CNAMEs in all. */
static void
add_chain(unsigned int links)
{
	char owner[32], target[32];
	unsigned int i;

	for (i = 0; i < links; i++) {
		(void)snprintf(owner, sizeof(owner), "n%u.test", i);
		(void)snprintf(target, sizeof(target), "n%u.test", i + 1);
		add_cname(owner, target);
	}
	(void)snprintf(target, sizeof(target), "n%u.test", links);
	add_address(target);
}

/* Looks a name up in what was added, which ends with it. */
static void
gather(const char *name, uint16_t type)
{
	struct question question = { .form = QUESTION_PLAIN, .type = type,
		.class = CLASS_IN, .name = make(name) };
	struct table *table = NULL;
	const char *why;
	int fd = memfd_create("image", MFD_CLOEXEC);

	CHECK(builder_write(builder, fd) == 0);
	CHECK(table_open(&table, fd, &why) == 0);
	builder_free(builder);
	if (table == NULL)
		abort();
	memset(&lookup, 0xaa, sizeof(lookup));
	lookup_gather(&lookup, table, &question);
	table_close(table);
	(void)close(fd);
}

TEST(test_lookup_none)
{
	begin();
	add_address("web.test");
	gather("other.test", TYPE_A);
	CHECK(lookup.entry.kind == ENTRY_NONE && lookup.chain_length == 0);
	CHECK(!lookup.has_type && !lookup.leaves_table);
}

TEST(test_lookup_lacks_type)
{
	begin();
	add_address("web.test");
	gather("web.test", TYPE_AAAA);
	CHECK(lookup.entry.kind == ENTRY_EXACT && lookup.chain_length == 0);
	CHECK(!lookup.has_type && !lookup.leaves_table);
}

TEST(test_lookup_longest_chain)
{
	begin();
	add_chain(LOOKUP_MAX_CHAIN);
	gather("n0.test", TYPE_A);
	CHECK(lookup.has_type && !lookup.leaves_table);
	CHECK(lookup.chain_length == LOOKUP_MAX_CHAIN + 1);
	CHECK(lookup.chain[0].type == TYPE_CNAME);
	CHECK(lookup.chain[LOOKUP_MAX_CHAIN].type == TYPE_A);
}

/* The client's resolver follows the last CNAME by itself. */
TEST(test_lookup_too_long_chain)
{
	begin();
	add_chain(LOOKUP_MAX_CHAIN + 1);
	gather("n0.test", TYPE_A);
	CHECK(!lookup.has_type && lookup.leaves_table);
	CHECK(lookup.chain_length == LOOKUP_MAX_CHAIN);
}

TEST(test_lookup_loop)
{
	begin();
	add_cname("a.test", "b.test");
	add_cname("b.test", "a.test");
	gather("a.test", TYPE_A);
	CHECK(!lookup.has_type && lookup.leaves_table);
	CHECK(lookup.chain_length == LOOKUP_MAX_CHAIN);
}

TEST(test_lookup_miss_at_the_end)
{
	begin();
	add_chain(2);
	gather("n0.test", TYPE_AAAA);
	CHECK(!lookup.has_type && !lookup.leaves_table);
	CHECK(lookup.chain_length == 2);
}

TEST(test_lookup_leaves_table)
{
	begin();
	add_cname("a.test", "www.example.com");
	gather("a.test", TYPE_A);
	CHECK(!lookup.has_type && lookup.leaves_table);
	CHECK(lookup.chain_length == 1);
}

TEST(test_lookup_target_unknown)
{
	mesh.zone_count = 1;
	mesh.zones[0] = (struct mesh_zone){ .name = make("mesh.test"),
	    .unknown = ZONE_NXDOMAIN };
	begin();
	add_cname("a.test", "gone.mesh.test");
	gather("a.test", TYPE_A);
	CHECK(!lookup.has_type && !lookup.leaves_table);
	CHECK(lookup.target_unknown && lookup.target_zone_labels == 2);
	begin();
	add_cname("a.test", "between.mesh.test");
	add_address("below.between.mesh.test");
	gather("a.test", TYPE_A);
	CHECK(!lookup.has_type && !lookup.leaves_table);
	CHECK(!lookup.target_unknown);
	mesh.zones[0].unknown = ZONE_PASS;
	begin();
	add_cname("a.test", "gone.mesh.test");
	gather("a.test", TYPE_A);
	CHECK(lookup.leaves_table && !lookup.target_unknown);
	mesh.zone_count = 0;
}

/* The CNAME itself, and whatever there is, are not followed. */
TEST(test_lookup_cname_type)
{
	static const uint16_t types[] = { TYPE_CNAME, TYPE_ANY };
	size_t i;

	for (i = 0; i < 2; i++) {
		begin();
		add_chain(2);
		gather("n0.test", types[i]);
		CHECK(lookup.has_type && lookup.chain_length == 1);
		CHECK(lookup.chain[0].type == TYPE_CNAME);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>

#include "tests/check.h"
#include "tests/image.h"

static const struct mesh plain = { .ttl = 30 };

TEST(records_are_joined_and_kept_in_order)
{
	struct builder *b = builder_new(&plain);
	struct table *t;
	struct entry e;
	struct rrset r;

	CHECK(add_address(b, "a.example", 0, "10.0.0.2") == BUILDER_ADDED);
	CHECK(add_address(b, "A.Example.", NAME_OWNED, "10.0.0.1") ==
	    BUILDER_ADDED);
	CHECK(add_address(b, "a.example", 0, "10.0.0.2") == BUILDER_DUPLICATE);
	CHECK(add_address(b, "a.example", 0, "2001:db8::1") == BUILDER_ADDED);
	CHECK(builder_names(b) == 1);
	t = table_of(b);
	e = find(t, "a.example");
	CHECK(e.kind == ENTRY_EXACT && e.flags == NAME_OWNED);
	CHECK(table_rrset(t, e.node, TYPE_A, &r) && r.count == 2 &&
	    r.rdlength == 4 && r.ttl == 30);
	CHECK(strcmp(address_of(t, e.node, TYPE_A, 0), "10.0.0.2") == 0);
	CHECK(strcmp(address_of(t, e.node, TYPE_A, 1), "10.0.0.1") == 0);
	CHECK(strcmp(address_of(t, e.node, TYPE_AAAA, 0), "2001:db8::1") == 0);
	CHECK(!table_rrset(t, e.node, TYPE_TXT, &r));
	CHECK(table_rrset_at(t, e.node, 1, &r) && r.type == TYPE_AAAA);
	CHECK(!table_rrset_at(t, e.node, 2, &r));
	table_close(t);
	builder_free(b);
}

TEST(lowest_ttl_counts)
{
	struct builder *b = builder_new(&plain);
	struct dns_name name = name_of("x");
	struct table *t;
	struct rrset r;

	CHECK(builder_add(b, &name, 0, TYPE_A, 30, "\1\2\3\4", 4, 1) == 0);
	CHECK(builder_add(b, &name, 0, TYPE_A, 10, "\1\2\3\5", 4, 1) == 0);
	CHECK(builder_add(b, &name, 0, TYPE_A, 20, "\1\2\3\6", 4, 1) == 0);
	t = table_of(b);
	CHECK(table_rrset(t, find(t, "x").node, TYPE_A, &r) && r.ttl == 10);
	table_close(t);
	builder_free(b);
}

TEST(first_source_has_the_name)
{
	struct builder *b = builder_new(&plain);
	struct builder_shadow shadow;
	struct table *t;
	unsigned int source, line;

	builder_source(b, 0);
	CHECK(add_address(b, "a", 0, "10.0.0.1") == BUILDER_ADDED);
	builder_source(b, 1);
	CHECK(builder_shadowed(b) == 0);
	CHECK(add_address(b, "b", 0, "10.0.0.2") == BUILDER_ADDED);
	CHECK(add_address(b, "a", 0, "10.0.0.3") == BUILDER_SHADOWED);
	CHECK(add_address(b, "a", 0, "2001:db8::1") == BUILDER_SHADOWED);
	CHECK(builder_shadowed(b) == 1);
	builder_shadow(b, 0, &shadow);
	CHECK(shadow.name.octets[1] == 'a' && shadow.winner_line == 1);
	builder_source(b, 2);
	CHECK(add_address(b, "*.w", 0, "10.0.0.2") == BUILDER_ADDED);
	builder_source(b, 3);
	CHECK(add_address(b, "*.w", 0, "10.0.0.3") == BUILDER_SHADOWED);
	CHECK(add_address(b, "a", 0, "10.0.0.3") == BUILDER_SHADOWED);
	CHECK(builder_shadowed(b) == 2);
	builder_shadow(b, 0, &shadow);
	CHECK(shadow.name.labels == 2 &&
	    memcmp(shadow.name.octets, "\1*\1w", 5) == 0);
	t = table_of(b);
	CHECK(strcmp(address_of(t, find(t, "a").node, TYPE_A, 0),
	    "10.0.0.1") == 0);
	CHECK(address_of(t, find(t, "a").node, TYPE_A, 1)[0] == '\0');
	table_origin(t, find(t, "b").node, &source, &line);
	CHECK(source == 1 && line == 1);
	table_close(t);
	builder_free(b);
}

static int
alias(struct builder *b, const char *owner, const char *other)
{
	struct dns_name from = name_of(owner), to = name_of(other);

	return builder_alias(b, &from, &to, 0, 7);
}

TEST(aliases_share_until_they_differ)
{
	struct builder *b = builder_new(&plain);
	struct table *t;

	CHECK(alias(b, "owner", "alias") == -ENOENT);
	CHECK(add_address(b, "owner", 0, "10.0.0.1") == BUILDER_ADDED);
	CHECK(alias(b, "owner", "alias") == BUILDER_ADDED);
	CHECK(alias(b, "owner", "alias") == BUILDER_DUPLICATE);
	CHECK(alias(b, "owner", "apart") == BUILDER_ADDED);
	/* What the owner gets, its aliases have. */
	CHECK(add_address(b, "owner", 0, "10.0.0.2") == BUILDER_ADDED);
	/* What an alias gets is its own. */
	CHECK(add_address(b, "apart", 0, "10.0.0.3") == BUILDER_ADDED);
	CHECK(add_address(b, "other", 0, "10.0.0.4") == BUILDER_ADDED);
	/* An alias of two has the records of both. */
	CHECK(alias(b, "other", "alias") == BUILDER_ADDED);
	CHECK(builder_names(b) == 4);
	t = table_of(b);
	CHECK(strcmp(address_of(t, find(t, "owner").node, TYPE_A, 1),
	    "10.0.0.2") == 0);
	CHECK(address_of(t, find(t, "owner").node, TYPE_A, 2)[0] == '\0');
	CHECK(strcmp(address_of(t, find(t, "apart").node, TYPE_A, 2),
	    "10.0.0.3") == 0);
	CHECK(strcmp(address_of(t, find(t, "alias").node, TYPE_A, 1),
	    "10.0.0.2") == 0);
	CHECK(strcmp(address_of(t, find(t, "alias").node, TYPE_A, 2),
	    "10.0.0.4") == 0);
	CHECK(address_of(t, find(t, "other").node, TYPE_A, 1)[0] == '\0');
	table_close(t);
	builder_free(b);
}

/* The nth name that a name is short for, "" behind the last; wildcards with "*". */
static const char *
short_for(const struct table *t, const char *text, unsigned int n)
{
	static char name[NAME_TEXT_SIZE + 2];
	struct dns_name whole;
	bool wildcard;

	if (!table_alias(t, find(t, text).node, n, &whole, &wildcard))
		return "";
	memcpy(name, "*.", 2);
	(void)name_to_text(whole.octets, name + 2);
	return wildcard ? name : name + 2;
}

TEST(aliases_lead_to_their_owners)
{
	struct builder *b = builder_new(&plain);
	struct table *t;

	CHECK(add_address(b, "one.mesh", 0, "10.0.0.1") == BUILDER_ADDED);
	CHECK(add_address(b, "two.mesh", 0, "10.0.0.2") == BUILDER_ADDED);
	CHECK(add_address(b, "*.mesh", 0, "10.0.0.3") == BUILDER_ADDED);
	CHECK(alias(b, "one.mesh", "one") == BUILDER_ADDED);
	CHECK(alias(b, "*.mesh", "*.w") == BUILDER_ADDED);
	CHECK(alias(b, "one", "again") == BUILDER_ADDED);
	/* Of several, by joining and by an addition of its own. */
	CHECK(alias(b, "one.mesh", "both") == BUILDER_ADDED);
	CHECK(alias(b, "two.mesh", "both") == BUILDER_ADDED);
	CHECK(alias(b, "one.mesh", "more") == BUILDER_ADDED);
	CHECK(add_address(b, "more", 0, "10.0.0.9") == BUILDER_ADDED);
	CHECK(alias(b, "both", "third") == BUILDER_ADDED);
	CHECK(add_address(b, "third", 0, "10.0.0.8") == BUILDER_ADDED);
	/* Of more than are kept it gets no records. */
	CHECK(add_address(b, "last.mesh", 0, "10.0.0.7") == BUILDER_ADDED);
	CHECK(alias(b, "last.mesh", "third") == BUILDER_DUPLICATE);
	/* What a name has lost it has from nobody. */
	CHECK(add_address(b, "gone.mesh", 0, "10.0.0.6") == BUILDER_ADDED);
	CHECK(add_address(b, "kept", 0, "10.0.0.5") == BUILDER_ADDED);
	CHECK(alias(b, "gone.mesh", "kept") == BUILDER_ADDED);
	builder_drop(b, &(struct dns_name){ .length = 11, .labels = 2,
	    .octets = "\4gone\4mesh" }, TYPE_A);
	t = table_of(b);
	CHECK(strcmp(short_for(t, "one.mesh", 0), "") == 0);
	CHECK(strcmp(short_for(t, "one", 0), "one.mesh.") == 0);
	CHECK(strcmp(short_for(t, "one", 1), "") == 0);
	CHECK(strcmp(short_for(t, "again", 0), "one.mesh.") == 0);
	CHECK(strcmp(short_for(t, "x.y.w", 0), "*.mesh.") == 0);
	CHECK(strcmp(short_for(t, "both", 0), "one.mesh.") == 0);
	CHECK(strcmp(short_for(t, "both", 1), "two.mesh.") == 0);
	CHECK(strcmp(short_for(t, "both", 2), "") == 0);
	CHECK(strcmp(short_for(t, "more", 0), "one.mesh.") == 0);
	CHECK(strcmp(short_for(t, "third", 0), "both.") == 0);
	CHECK(strcmp(short_for(t, "third", 2), "two.mesh.") == 0);
	CHECK(strcmp(address_of(t, find(t, "third").node, TYPE_A, 2),
	    "10.0.0.8") == 0);
	CHECK(strcmp(short_for(t, "kept", 0), "") == 0);
	CHECK(!table_is_alias(t, find(t, "one.mesh").node));
	CHECK(table_is_alias(t, find(t, "both").node));
	table_close(t);
	builder_free(b);
}

TEST(every_type_is_carried)
{
	static const uint8_t srv[] = "\0\1\0\2\0\x50\3web\1x";
	struct builder *b = builder_new(&plain);
	struct dns_name name = name_of("_http._tcp.x");
	uint8_t long_data[40000];
	struct table *t;
	struct rrset r;
	struct entry e;

	memset(long_data, 7, sizeof(long_data));
	CHECK(builder_add(b, &name, 0, TYPE_SRV, 5, srv, sizeof(srv), 1) == 0);
	CHECK(builder_add(b, &name, 0, TYPE_TXT, 5, "\3abc\0", 5, 1) == 0);
	CHECK(builder_add(b, &name, 0, TYPE_TXT, 5, "\1z", 2, 1) == 0);
	CHECK(builder_add(b, &name, 0, 65280, 5, "", 0, 1) == 0);
	CHECK(builder_add(b, &name, 0, 65281, 5, long_data,
	    sizeof(long_data), 1) == 0);
	t = table_of(b);
	e = find(t, "_http._tcp.x");
	CHECK(table_rrset(t, e.node, TYPE_SRV, &r) && r.rdlength == 0 &&
	    r.count == 1 && r.rdata[0] == 0 && r.rdata[1] == sizeof(srv) &&
	    memcmp(r.rdata + 2, srv, sizeof(srv)) == 0);
	CHECK(table_rrset(t, e.node, TYPE_TXT, &r) && r.count == 2 &&
	    memcmp(r.rdata, "\0\5\3abc\0\0\2\1z", 11) == 0);
	CHECK(table_rrset(t, e.node, 65280, &r) && r.count == 1 &&
	    memcmp(r.rdata, "\0\0", 2) == 0);
	CHECK(table_rrset(t, e.node, 65281, &r) &&
	    memcmp(r.rdata + 2, long_data, sizeof(long_data)) == 0);
	table_close(t);
	builder_free(b);
}

TEST(data_that_is_none_of_its_type)
{
	struct builder *b = builder_new(&plain);
	struct dns_name name = name_of("x");

	CHECK(builder_add(b, &name, 0, TYPE_A, 1, "\1\2\3", 3, 1) == -EINVAL);
	CHECK(builder_add(b, &name, 0, TYPE_AAAA, 1, "\1\2\3\4", 4, 1) ==
	    -EINVAL);
	CHECK(builder_add(b, &name, 0, TYPE_CNAME, 1, "\3abc", 4, 1) == -EINVAL);
	CHECK(builder_add(b, &name, 0, TYPE_CNAME, 1, "\1a\0\0", 4, 1) ==
	    -EINVAL);
	CHECK(builder_add(b, &name, 0, TYPE_CNAME, 1, "\xc0\x0c", 2, 1) ==
	    -EINVAL);
	CHECK(builder_add(b, &name, 0, TYPE_SRV, 1, "\0\0\0\0\0\0", 6, 1) ==
	    -EINVAL);
	CHECK(builder_add(b, &name, 0, TYPE_TXT, 1, "\5abc", 4, 1) == -EINVAL);
	CHECK(builder_add(b, &name, 0, TYPE_TXT, 1, "", 0, 1) == -EINVAL);
	CHECK(builder_names(b) == 0);
	builder_free(b);
}

static void
fill(struct builder *b, unsigned int names)
{
	for (unsigned int i = 0; i < names; i++) {
		char owner[32], address[32];

		(void)snprintf(owner, sizeof(owner), "host-%u.zone", i);
		(void)snprintf(address, sizeof(address), "10.%u.%u.%u",
		    i >> 16, i >> 8 & 255, i & 255);
		MUST(add_address(b, owner, 0, address) == BUILDER_ADDED);
	}
}

TEST(same_additions_same_octets)
{
	struct mesh_source sources[] = { { .path = (char[]){ "p" } } };
	struct mesh mesh = { .ttl = 30, .zone_count = 1,
	    .search_count = 1, .sources = sources, .source_count = 1 };
	uint8_t *octets[2];
	off_t size[2];

	mesh.zones[0].name = name_of("zone");
	mesh.zones[0].unknown = ZONE_NXDOMAIN;
	mesh.search[0] = name_of("zone");
	for (int i = 0; i < 2; i++) {
		struct builder *b = builder_new(&mesh);
		int fd = memory_file("leftovers", 9);

		fill(b, 3000);
		CHECK(alias(b, "host-7.zone", "alias") == 0);
		CHECK(builder_write(b, fd) == 0);
		size[i] = lseek(fd, 0, SEEK_END);
		octets[i] = malloc((size_t)size[i]);
		MUST(octets[i] != NULL);
		MUST(pread(fd, octets[i], (size_t)size[i], 0) == size[i]);
		close(fd);
		builder_free(b);
	}
	CHECK(size[0] == size[1] &&
	    memcmp(octets[0], octets[1], (size_t)size[0]) == 0);
	free(octets[0]);
	free(octets[1]);
}

TEST(a_name_with_many_addresses)
{
	char crowded[NAME_TEXT_SIZE];
	struct builder *b = builder_new(&plain);
	struct table *t;
	struct rrset r;

	for (unsigned int i = 0; i < 5000; i++) {
		char address[32];

		(void)snprintf(address, sizeof(address), "10.0.%u.%u", i >> 8,
		    i & 255);
		MUST(add_address(b, "many", 0, address) ==
		    (i < BUILDER_RECORDS_MAX ? BUILDER_ADDED :
		    BUILDER_DUPLICATE));
		if (i < BUILDER_RECORDS_MAX)
			MUST(add_address(b, "many", 0, address) ==
			    BUILDER_DUPLICATE);
	}
	CHECK(builder_crowded(b, crowded) == 5000 - BUILDER_RECORDS_MAX &&
	    strncmp(crowded, "many.", 5) == 0);
	t = table_of(b);
	CHECK(table_rrset(t, find(t, "many").node, TYPE_A, &r) &&
	    r.count == BUILDER_RECORDS_MAX);
	CHECK(strcmp(address_of(t, find(t, "many").node, TYPE_A, 4095),
	    "10.0.15.255") == 0);
	table_close(t);
	builder_free(b);
}

TEST(all_of_many_names_are_found)
{
	struct builder *b = builder_new(&plain);
	struct dns_name name;
	size_t cursor = 0, seen = 0;
	struct table *t;
	uint32_t node;
	uint8_t flags;

	fill(b, 20000);
	t = table_of(b);
	CHECK(table_names(t) == 20000);
	for (unsigned int i = 0; i < 20000; i++) {
		char owner[32];

		(void)snprintf(owner, sizeof(owner), "host-%u.zone", i);
		MUST(find(t, owner).kind == ENTRY_EXACT);
	}
	CHECK(find(t, "host-20000.zone").kind == ENTRY_NONE);
	while (table_next(t, &cursor, &name, &node, &flags))
		seen++;
	CHECK(seen == 20000);
	CHECK(table_octets(t) / 20000 < 100);
	table_close(t);
	builder_free(b);
}

TEST(unwritable_file)
{
	struct builder *b = builder_new(&plain);
	int fd = memory_file(NULL, 0);

	fill(b, 10);
	MUST(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0);
	CHECK(builder_write(b, fd) == -EPERM);
	CHECK(builder_write(b, -1) == -EBADF);
	close(fd);
	builder_free(b);
	builder_free(NULL);
}

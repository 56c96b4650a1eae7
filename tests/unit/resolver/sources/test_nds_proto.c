/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"
#include "tests/name_table.h"
#include "tests/source.h"

static const struct mesh *
mesh(void)
{
	static struct mesh m = { .ttl = 30 };
	static char own[] = "own";

	m.domain = name_of("mesh.test");
	m.namespace = own;
	return &m;
}

/* A service of the cluster, one of another kind, and two that are none. */
static struct proto
sample(void)
{
	struct proto table = { .length = 0 }, info = { .length = 0 };

	proto_text(&info, 1, "10.0.0.1");
	proto_text(&info, 1, "2001:db8::1");
	proto_text(&info, 2, "Kubernetes");
	proto_text(&info, 3, "web");
	proto_text(&info, 4, "own");
	proto_text(&info, 5, "alt.test");
	proto_entry(&table, "web.own.svc.mesh.test", &info);
	info.length = 0;
	proto_text(&info, 1, "10.0.0.2");
	proto_text(&info, 2, "External");
	proto_text(&info, 3, "pub");
	proto_text(&info, 4, "own");
	proto_entry(&table, "pub.example", &info);
	return table;
}

static struct reading
read_message(const struct proto *m)
{
	return read_octets("nds-proto", mesh(), (const char *)m->octets,
	    m->length);
}

TEST(names_are_those_of_the_json_form)
{
	static const char *const names[] = { "web.own.svc.mesh.test",
	    "web.own.svc", "web.own", "web", "alt.test", "pub.example" };
	const struct proto m = sample();
	struct reading r = read_message(&m);
	struct reading json = read_text("nds", mesh(),
	    "{\"table\": {\"web.own.svc.mesh.test\": {\"ips\": [\"10.0.0.1\","
	    " \"2001:db8::1\"], \"registry\": \"Kubernetes\", \"shortname\":"
	    " \"web\", \"namespace\": \"own\", \"altHosts\": [\"alt.test\"]},"
	    " \"pub.example\": {\"ips\": [\"10.0.0.2\"], \"registry\":"
	    " \"External\", \"shortname\": \"pub\", \"namespace\": \"own\"}}}");

	CHECK(silent(&r));
	CHECK(table_names(r.table) == 6 && table_names(json.table) == 6);
	for (size_t i = 0; i < 6; i++) {
		struct entry e = find(r.table, names[i]);
		struct entry other = find(json.table, names[i]);
		char address[INET6_ADDRSTRLEN];

		CHECK(e.kind == ENTRY_EXACT && other.kind == ENTRY_EXACT &&
		    e.flags == other.flags);
		for (uint16_t type = TYPE_A; type <= TYPE_AAAA; type += 27) {
			(void)snprintf(address, sizeof(address), "%s",
			    address_of(r.table, e.node, type, 0));
			CHECK(strcmp(address, address_of(json.table,
			    other.node, type, 0)) == 0);
		}
	}
	reading_free(&r);
	reading_free(&json);
}

TEST(one_bad_entry_and_the_rest_works)
{
	struct proto table = { .length = 0 }, info = { .length = 0 };
	struct proto good = sample();
	struct reading r;

	proto_text(&info, 1, "10.0.0.999");
	proto_text(&info, 1, "");
	proto_entry(&table, "bad.example", &info);
	proto_entry(&table, "", &good);
	memcpy(table.octets + table.length, good.octets, good.length);
	table.length += good.length;
	r = read_message(&table);
	CHECK(r.diag.errors == 0);
	CHECK(r.diag.warnings == 4);
	CHECK(r.diag.kept == 4 && strcmp(r.diag.entries[2].text,
	    "T: bad.example has no valid address: ignored, questions for it"
	    " pass") == 0);
	CHECK(table_names(r.table) == 6);
	CHECK(find(r.table, "bad.example").kind == ENTRY_NONE);
	reading_free(&r);
}

/* Between entries it may end, for nobody can know; inside one it may not. */
TEST(cut_off_at_every_octet)
{
	struct proto m = sample();
	const size_t whole = m.length;
	size_t accepted = 0;

	while (m.length-- > 1) {
		struct reading r = read_message(&m);

		CHECK(r.diag.errors <= 1);
		accepted += r.diag.errors == 0;
		reading_free(&r);
	}
	CHECK(whole > 100 && accepted == 1);
}

TEST(unknown_fields_are_passed_over)
{
	static const uint8_t more[] = { 2 << 3, 0x85, 1, 3 << 3 | 5, 1, 2, 3, 4,
	    4 << 3 | 1, 1, 2, 3, 4, 5, 6, 7, 8, 5 << 3 | 2, 1, 'x' };
	struct proto m = sample();
	struct reading r;

	memcpy(m.octets + m.length, more, sizeof(more));
	m.length += sizeof(more);
	r = read_message(&m);
	CHECK(silent(&r) && table_names(r.table) == 6);
	reading_free(&r);
}

TEST(what_is_no_table)
{
	static const char *const bad[] = { "{\"table\": {}}", "\n", "\n\xff",
	    "\x08\x01", "\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	    "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", "\n\2\n\5" };
	struct proto none = { .length = 0 };
	struct reading r;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		r = read_text("nds-proto", mesh(), bad[i]);
		CHECK(r.diag.errors == 1);
		reading_free(&r);
	}
	r = read_message(&none);
	CHECK(said(&r, DIAG_WARNING, "T: is empty: a table without names"));
	reading_free(&r);
}

/* The message can be walked, so what is wrong with one entry is its own. */
TEST(malformed_entries_are_ignored)
{
	struct proto table = { .length = 0 }, good = sample();
	struct reading r;

	proto_put(&table, PROTO_ENTRY, "\n\1x\x12\5\n\x09", 7);
	proto_put(&table, PROTO_ENTRY, "\n\2\xff.\x12\0", 6);
	proto_put(&table, PROTO_ENTRY, "\n\1y\x10\1", 5);
	memcpy(table.octets + table.length, good.octets, good.length);
	table.length += good.length;
	r = read_message(&table);
	CHECK(r.diag.errors == 0 && r.diag.warnings == 3);
	CHECK(strcmp(r.diag.entries[0].text, "T: the entry \"x\" at octet 0"
	    " is cut off or malformed: ignored") == 0);
	CHECK(strcmp(r.diag.entries[1].text, "T: the entry \"\" at octet 9"
	    " has a text that is not UTF-8: ignored") == 0);
	CHECK(strcmp(r.diag.entries[2].text, "T: the entry \"y\" at octet 17"
	    " has a field of another type: ignored") == 0);
	CHECK(table_names(r.table) == 6);
	reading_free(&r);
}

/* In a map the last one counts; in the JSON form, which no map made, all do. */
TEST(of_entries_with_one_host_the_last_counts)
{
	struct proto table = { .length = 0 };
	struct reading r;
	struct entry e;

	proto_host(&table, "a.example", "10.0.0.1");
	proto_host(&table, "b.example", "10.0.0.2");
	proto_host(&table, "a.example", "10.0.0.3");
	r = read_message(&table);
	CHECK(said(&r, DIAG_WARNING, "T: has 1 entries that a later one of the"
	    " same host replaces"));
	CHECK(table_names(r.table) == 2);
	e = find(r.table, "a.example");
	CHECK(strcmp(address_of(r.table, e.node, TYPE_A, 0), "10.0.0.3") == 0);
	CHECK(strcmp(address_of(r.table, e.node, TYPE_A, 1), "") == 0);
	reading_free(&r);
}

TEST(texts_may_hold_nul)
{
	struct proto table = { .length = 0 }, info = { .length = 0 };
	struct reading r;

	proto_put(&info, PROTO_IPS, "10.0.0.1\0junk", 13);
	proto_text(&info, PROTO_IPS, "10.0.0.2");
	proto_entry(&table, "a.example", &info);
	r = read_message(&table);
	CHECK(r.diag.warnings == 1 && table_names(r.table) == 1);
	CHECK(strcmp(address_of(r.table, find(r.table, "a.example").node,
	    TYPE_A, 0), "10.0.0.2") == 0);
	reading_free(&r);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"
#include "tests/source.h"

static const struct mesh *
mesh(void)
{
	static struct mesh m = { .ttl = 30, .udp_size = 1232 };
	static char own[] = "own";

	m.domain = name_of("mesh.test");
	m.namespace = own;
	return &m;
}

/* A message while it is written: protocol buffers by hand, as a peer does. */
struct message {
	size_t length;
	uint8_t octets[4096];
};

static void
put_octet(struct message *m, unsigned int octet)
{
	MUST(m->length < sizeof(m->octets));
	m->octets[m->length++] = (uint8_t)octet;
}

static void
put(struct message *m, unsigned int field, const void *octets, size_t length)
{
	const uint8_t *p = octets;

	put_octet(m, field << 3 | 2);
	if (length > 127)
		put_octet(m, (unsigned int)(length & 127) | 128);
	put_octet(m, (unsigned int)(length > 127 ? length >> 7 : length));
	for (size_t i = 0; i < length; i++)
		put_octet(m, p[i]);
}

static void
put_text(struct message *m, unsigned int field, const char *text)
{
	put(m, field, text, strlen(text));
}

static void
put_entry(struct message *table, const char *host, const struct message *info)
{
	struct message entry = { .length = 0 };

	put_text(&entry, 1, host);
	put(&entry, 2, info->octets, info->length);
	put(table, 1, entry.octets, entry.length);
}

/* A service of the cluster, one of another kind, and two that are none. */
static struct message
sample(void)
{
	struct message table = { .length = 0 }, info = { .length = 0 };

	put_text(&info, 1, "10.0.0.1");
	put_text(&info, 1, "2001:db8::1");
	put_text(&info, 2, "Kubernetes");
	put_text(&info, 3, "web");
	put_text(&info, 4, "own");
	put_text(&info, 5, "alt.test");
	put_entry(&table, "web.own.svc.mesh.test", &info);
	info.length = 0;
	put_text(&info, 1, "10.0.0.2");
	put_text(&info, 2, "External");
	put_text(&info, 3, "pub");
	put_text(&info, 4, "own");
	put_entry(&table, "pub.example", &info);
	return table;
}

static struct reading
read_message(const struct message *m)
{
	return read_octets("nds-proto", mesh(), (const char *)m->octets,
	    m->length);
}

static void
names_are_those_of_the_json_form(void)
{
	static const char *const names[] = { "web.own.svc.mesh.test",
	    "web.own.svc", "web.own", "web", "alt.test", "pub.example" };
	const struct message m = sample();
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

static void
one_bad_entry_and_the_rest_works(void)
{
	struct message table = { .length = 0 }, info = { .length = 0 };
	struct message good = sample();
	struct reading r;

	put_text(&info, 1, "10.0.0.999");
	put_text(&info, 1, "");
	put_entry(&table, "bad.example", &info);
	put_entry(&table, "", &good);
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
static void
cut_off_at_every_octet(void)
{
	struct message m = sample();
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

static void
unknown_fields_are_passed_over(void)
{
	static const uint8_t more[] = { 2 << 3, 0x85, 1, 3 << 3 | 5, 1, 2, 3, 4,
	    4 << 3 | 1, 1, 2, 3, 4, 5, 6, 7, 8, 5 << 3 | 2, 1, 'x' };
	struct message m = sample();
	struct reading r;

	memcpy(m.octets + m.length, more, sizeof(more));
	m.length += sizeof(more);
	r = read_message(&m);
	CHECK(silent(&r) && table_names(r.table) == 6);
	reading_free(&r);
}

static void
what_is_no_table(void)
{
	static const char *const bad[] = { "{\"table\": {}}", "\n", "\n\xff",
	    "\x08\x01", "\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	    "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", "\n\2\n\5" };
	struct message none = { .length = 0 };
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

int
main(void)
{
	TEST(names_are_those_of_the_json_form);
	TEST(one_bad_entry_and_the_rest_works);
	TEST(cut_off_at_every_octet);
	TEST(unknown_fields_are_passed_over);
	TEST(what_is_no_table);
	return test_summary();
}

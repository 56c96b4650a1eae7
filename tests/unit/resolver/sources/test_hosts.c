/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"
#include "tests/source.h"

static const struct mesh mesh = { .ttl = 17 };

TEST(addresses_and_names)
{
	struct reading r = read_text("hosts", &mesh,
	    "# a comment\n"
	    "\n"
	    "10.0.0.1\tone  ONE.example # trailing\r\n"
	    "  2001:db8::1 one\n"
	    "10.0.0.2 one\n"
	    "10.0.0.1 one");
	struct entry e = find(r.table, "one");
	struct rrset rrset;
	unsigned int source, line;

	CHECK(silent(&r));
	CHECK(table_names(r.table) == 5);	/* with three reverse ones */
	CHECK(e.kind == ENTRY_EXACT && e.flags == 0);
	CHECK(table_rrset(r.table, e.node, TYPE_A, &rrset) &&
	    rrset.count == 2 && rrset.ttl == 17);
	CHECK(strcmp(address_of(r.table, e.node, TYPE_A, 1), "10.0.0.2") == 0);
	CHECK(strcmp(address_of(r.table, e.node, TYPE_AAAA, 0),
	    "2001:db8::1") == 0);
	e = find(r.table, "one.example");
	CHECK(e.kind == ENTRY_EXACT);
	table_origin(r.table, e.node, &source, &line);
	CHECK(source == 0 && line == 3);
	reading_free(&r);
}

/* The nth target of a name's PTR records, "" if there is none. */
static const char *
pointer_of(const struct table *table, const char *name, uint32_t n)
{
	static char text[NAME_TEXT_SIZE];
	struct rrset rrset;
	const uint8_t *at;

	if (!table_rrset(table, find(table, name).node, TYPE_PTR, &rrset) ||
	    n >= rrset.count)
		return "";
	for (at = rrset.rdata; n > 0; n--)
		at += 2 + (at[0] << 8 | at[1]);
	return name_to_text(at + 2, text);
}

TEST(reverse_names)
{
	struct reading r = read_text("hosts", &mesh,
	    "10.0.0.1 one Two\n10.0.0.1 three\n2001:db8::a v6\n"
	    "0.0.0.0 blocked\n:: blocked\n10.0.0.2 *.wild\n");

	CHECK(silent(&r));
	CHECK(strcmp(pointer_of(r.table, "1.0.0.10.in-addr.arpa", 0),
	    "one.") == 0);
	CHECK(strcmp(pointer_of(r.table, "1.0.0.10.in-addr.arpa", 1),
	    "two.") == 0);
	CHECK(strcmp(pointer_of(r.table, "1.0.0.10.in-addr.arpa", 2),
	    "three.") == 0);
	CHECK(strcmp(pointer_of(r.table, "a.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0."
	    "0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa", 0), "v6.") == 0);
	CHECK(table_names(r.table) == 8);
	reading_free(&r);
}

TEST(mapped_addresses)
{
	struct reading r = read_text("hosts", &mesh,
	    "::FFFF:10.0.0.2 mapped\n::10.0.0.2 compatible\n");
	uint32_t node = find(r.table, "mapped").node;

	CHECK(silent(&r));
	CHECK(strcmp(address_of(r.table, node, TYPE_A, 0), "10.0.0.2") == 0);
	CHECK(strcmp(address_of(r.table, node, TYPE_AAAA, 0), "") == 0);
	CHECK(strcmp(address_of(r.table, find(r.table, "compatible").node,
	    TYPE_AAAA, 0), "::10.0.0.2") == 0);
	reading_free(&r);
}

TEST(one_bad_line_and_the_rest_works)
{
	static const struct {
		const char *line;
		const char *said;
	} bad[] = {
		{ "10.0.0.256 x", "T:2: \"10.0.0.256\" is neither an IPv4 nor"
		    " an IPv6 address: line ignored" },
		{ "fe80::1%lo x", "T:2: \"fe80::1%lo\": an address with a zone"
		    " id means nothing in the DNS: line ignored" },
		{ "10.0.0.1 # x", "T:2: an address without a name: ignored" },
		{ "10.0.0.1 a..b", "T:2: \"a..b\" is not a valid domain name: ignored" },
		{ "10.0.0.1 .", "T:2: \".\" is not a valid domain name: ignored" },
		{ "\x1b[2J", "T:2: \"\\x1b[2J\" is neither an IPv4 nor an IPv6"
		    " address: line ignored" },
		{ "10.0.0.1 a234567890123456789012345678901234567890123456789"
		    "012345678901234", "T:2: \"a23456789012345678901234567890"
		    "1234567890123456789012345678901234\" has a label over 63"
		    " or is over 255 octets long: ignored" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[400];
		struct reading r;

		(void)snprintf(text, sizeof(text),
		    "10.0.0.8 before\n%s\n10.0.0.9 after\n", bad[i].line);
		r = read_text("hosts", &mesh, text);
		CHECK(said(&r, DIAG_WARNING, bad[i].said));
		CHECK(find(r.table, "before").kind == ENTRY_EXACT);
		CHECK(find(r.table, "after").kind == ENTRY_EXACT);
		CHECK(table_names(r.table) == 4);
		reading_free(&r);
	}
}

TEST(any_octets)
{
	static const char text[] = "10.0.0.1\0x y\n10.0.0.2 a\0b c\n\xff\xfe\n";
	struct reading r = read_octets("hosts", &mesh, text, sizeof(text) - 1);
	char *line = malloc(1 << 20);

	CHECK(r.diag.errors == 0 && r.diag.warnings == 2);
	CHECK(find(r.table, "c").kind == ENTRY_EXACT);
	CHECK(find(r.table, "a\\000b").kind == ENTRY_EXACT);
	reading_free(&r);
	MUST(line != NULL);
	memset(line, '1', 1 << 20);
	r = read_octets("hosts", &mesh, line, 1 << 20);
	CHECK(r.diag.warnings == 1 && strlen(r.diag.entries[0].text) < 200);
	reading_free(&r);
	r = read_octets("hosts", &mesh, line, 0);
	CHECK(silent(&r) && table_names(r.table) == 0);
	reading_free(&r);
	free(line);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>

#include "resolver/compile/compile.h"
#include "resolver/compile/source_files.h"
#include "tests/check.h"
#include "tests/source.h"

static const struct mesh mesh = { .ttl = 17 };
static char directory[] = "/tmp/nfdns-test-zone.XXXXXX";

static uint32_t
ttl_of(const struct table *table, const char *name, uint16_t type)
{
	struct entry e = find(table, name);
	struct rrset rrset;

	MUST(e.kind == ENTRY_EXACT && table_rrset(table, e.node, type, &rrset));
	return rrset.ttl;
}

static unsigned int
line_of(const struct table *table, const char *name)
{
	unsigned int source, line;

	table_origin(table, find(table, name).node, &source, &line);
	return line;
}

TEST(entries_and_directives)
{
	struct reading r = read_text("zone", &mesh,
	    "; a comment\n"
	    "$ORIGIN Example.\n"
	    "first A 10.0.0.1\r\n"
	    "\tAAAA 2001:db8::1 ; of first\n"
	    "\n"
	    "$TTL 1h30m\n"
	    "@ SOA ns h ( 1 ; serial\n"
	    "  2 3\n"
	    "  4 5 )\n"
	    "second 0 IN A 10.0.0.2\n"
	    "IN 60 A 10.0.0.3\n"
	    "$origin sub\n"
	    "third A 10.0.0.4\n"
	    "whole.test. A 10.0.0.5\n"
	    "\\116ext\\.label TXT \"a ; ( b\" c\\ d\n"
	    "last A 10.0.0.6");

	CHECK(silent(&r));
	CHECK(table_names(r.table) == 8);
	CHECK(ttl_of(r.table, "first.example", TYPE_A) == 17);
	CHECK(ttl_of(r.table, "first.example", TYPE_AAAA) == 17);
	CHECK(ttl_of(r.table, "example", TYPE_SOA) == 5400);
	CHECK(ttl_of(r.table, "second.example", TYPE_A) == 0);
	CHECK(ttl_of(r.table, "in.example", TYPE_A) == 60);
	CHECK(ttl_of(r.table, "third.sub.example", TYPE_A) == 5400);
	CHECK(ttl_of(r.table, "text\\.label.sub.example", TYPE_TXT) == 5400);
	CHECK(find(r.table, "whole.test").flags & NAME_OWNED);
	CHECK(line_of(r.table, "example") == 7);
	CHECK(line_of(r.table, "last.sub.example") == 16);
	reading_free(&r);
}

TEST(ttl_of_the_record_before)
{
	struct reading r = read_text("zone", &mesh,
	    "a. 40 A 10.0.0.1\nb. A 10.0.0.2\n$TTL 50\nc. 60 A 10.0.0.3\n"
	    "d. A 10.0.0.4\n");

	CHECK(silent(&r));
	CHECK(ttl_of(r.table, "b", TYPE_A) == 40);
	CHECK(ttl_of(r.table, "d", TYPE_A) == 50);
	reading_free(&r);
}

TEST(data_of_any_type)
{
	static const uint8_t caa[] = { 0, 5, 'i', 's', 's', 'u', 'e', 'x' };
	struct reading r = read_text("zone", &mesh,
	    "a. TYPE65280 \\# 3 01 0203\n"
	    "b. TYPE1 \\# 4 0a000001\n"
	    "c. CAA 0 issue \"x\"\n"
	    "d. TYPE65281 \\# 0\n");
	struct rrset rrset;

	CHECK(silent(&r));
	CHECK(table_rrset(r.table, find(r.table, "a").node, 65280, &rrset) &&
	    rrset.count == 1 && memcmp(rrset.rdata, "\0\3\1\2\3", 5) == 0);
	CHECK(strcmp(address_of(r.table, find(r.table, "b").node, TYPE_A, 0),
	    "10.0.0.1") == 0);
	CHECK(table_rrset(r.table, find(r.table, "c").node, 257, &rrset) &&
	    memcmp(rrset.rdata + 2, caa, sizeof(caa)) == 0);
	CHECK(table_rrset(r.table, find(r.table, "d").node, 65281, &rrset) &&
	    memcmp(rrset.rdata, "\0\0", 2) == 0);
	reading_free(&r);
}

TEST(one_bad_entry_and_the_rest_works)
{
	static const struct {
		const char *entry;
		const char *said;
	} bad[] = {
		{ "x. A 10.0.0.256", "T:2: no record of a zone (Syntax error,"
		    " could not parse the RR's rdata): ignored" },
		{ "x. CH TXT y", "T:2: a class other than IN: ignored" },
		{ "x. TYPE255 \\# 0", "T:2: ANY is not a type of records: ignored"
		    "" },
		{ "x. TYPE41 \\# 0", "T:2: OPT is not a type of records: ignored"
		    "" },
		{ "x. TYPE6 \\# 0", NULL },
		{ "x. A", NULL },
		{ "x. NOSUCH y", NULL },
		{ "x. 30 IN wks 10.0.0.1 tcp ( 80 )", "T:2: a record of type WKS:"
		    " ignored" },
		{ "a234567890123456789012345678901234567890123456789012345678901"
		    "2345. A 10.0.0.1", NULL },
		{ ") x. A 10.0.0.1", "T:2: the entry has a ')' without a '(':"
		    " ignored" },
		{ "x. TXT \"y", "T:2: the entry has a '\"' without another on"
		    " the same line: ignored" },
		{ "x. TXT y\\", "T:2: the entry has a '\\' at the end of a"
		    " line: ignored" },
		{ "$DATE 1-2", "T:2: $DATE is not known here (but $ORIGIN,"
		    " $TTL, $INCLUDE and $GENERATE are): ignored" },
		{ "$GENERATE 2-1 x. A 10.0.0.1", "T:2: $GENERATE \"2-1\" is not a"
		    " range such as 1-100 or 0-254/2: ignored" },
		{ "$GENERATE 1-2 x${0,300}. A 10.0.0.1", "T:2: $GENERATE: for"
		    " number 1, no valid text: ignored" },
		{ "x. 2147483648 A 10.0.0.1", "T:2: a TTL that is not a number of"
		    " seconds up to 2147483647: ignored" },
		{ "x. 60 IN 60 A 10.0.0.1", "T:2: two TTLs or two classes:"
		    " ignored" },
		{ "$TTL soon", "T:2: $TTL \"soon\" is not a number of seconds:"
		    " ignored" },
		{ "x A 10.0.0.1", "T:2: \"x\" has no final dot and there is no"
		    " origin: taken as a whole name; write $ORIGIN or give the"
		    " table an origin" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[400];
		struct reading r;

		(void)snprintf(text, sizeof(text), "before. A 10.0.0.1\n%s\n"
		    "behind. A 10.0.0.2\n", bad[i].entry);
		r = read_text("zone", &mesh, text);
		CHECK(r.diag.errors == 0 && r.diag.warnings == 1);
		CHECK(r.diag.kept == 1 &&
		    strncmp(r.diag.entries[0].text, "T:2: ", 5) == 0);
		CHECK(bad[i].said == NULL ||
		    said(&r, DIAG_WARNING, bad[i].said));
		CHECK(find(r.table, "before").kind == ENTRY_EXACT);
		CHECK(find(r.table, "behind").kind == ENTRY_EXACT &&
		    line_of(r.table, "behind") == 3);
		reading_free(&r);
	}
}

/* Issue 22, item 7: RFC 1035 section 5.1 has TTL and class in either order. */
TEST(ttl_and_class_in_either_order)
{
	static const struct {
		const char *front;
		uint32_t ttl;
	} good[] = {
		{ "60 IN", 60 }, { "IN 61", 61 }, { "in 1m2s", 62 },
		{ "CLASS1 63", 63 }, { "64", 64 }, { "IN", 7 }, { "", 7 },
		{ "2147483647 IN", 2147483647 }, { "1w IN", 604800 },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		char text[100];
		struct reading r;
		struct rrset rrset;

		(void)snprintf(text, sizeof(text), "$TTL 7\nx. %s TYPE65280 "
		    "\\# 1 ff\n", good[i].front);
		r = read_text("zone", &mesh, text);
		CHECK(r.diag.warnings == 0 && table_rrset(r.table,
		    find(r.table, "x").node, 65280, &rrset) &&
		    rrset.ttl == good[i].ttl);
		reading_free(&r);
	}
}

TEST(records_are_generated)
{
	struct reading r = read_text("zone", &mesh, "$GENERATE 1-3 n$. 60 A "
	    "10.0.0.$\n$GENERATE 8-12/2 h${-8,3,x}. AAAA fd00::$\n"
	    "$GENERATE 16-16 ${0,7,n}.arpa. PTR a\\$.\n"
	    "$GENERATE 5-5 m$. TXT \"$$ $\"\n");
	struct rrset rrset;

	CHECK(r.diag.errors == 0 && r.diag.warnings == 0);
	CHECK(strcmp(address_of(r.table, find(r.table, "n3").node, TYPE_A, 0),
	    "10.0.0.3") == 0);
	CHECK(find(r.table, "n4").kind == ENTRY_NONE);
	CHECK(strcmp(address_of(r.table, find(r.table, "h004").node, TYPE_AAAA,
	    0), "fd00::12") == 0);
	CHECK(find(r.table, "h001").kind == ENTRY_NONE);
	CHECK(table_rrset(r.table, find(r.table, "0.1.0.0.arpa").node, TYPE_PTR,
	    &rrset) && memcmp(rrset.rdata, "\0\4\2a$\0", 6) == 0);
	CHECK(table_rrset(r.table, find(r.table, "m5").node, TYPE_TXT,
	    &rrset) && memcmp(rrset.rdata + 2, "\3$ 5", 4) == 0);
	reading_free(&r);
	r = read_text("zone", &mesh, "a. A 10.0.0.1\n$GENERATE 0-999999 n. A "
	    "10.0.0.1\n$GENERATE 0-2 m$. A 10.0.0.1\n");
	CHECK(said(&r, DIAG_ERROR, "T:3: $GENERATE makes more than 1000000 "
	    "records"));
	reading_free(&r);
}

TEST(half_a_zone_is_none)
{
	static const struct {
		const char *text;
		const char *said;
	} bad[] = {
		{ "a. A 10.0.0.1\nb. SOA a b ( 1 2\n3 4", "T:2: the entry has"
		    " a '(' without a ')': the file is cut off" },
		{ "a. A 10.0.0.1\nb. TXT \"x", "T:2: the entry has a '\"'"
		    " without another: the file is cut off" },
		{ "a. A 10.0.0.1\n$ORIGIN a..b\n", "T:2: $ORIGIN \"a..b\" is not a valid"
		    " domain name" },
		{ "a. A 10.0.0.1\n$INCLUDE\n", "T:2: $INCLUDE needs the name of"
		    " a file" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct reading r = read_text("zone", &mesh, bad[i].text);

		CHECK(said(&r, DIAG_ERROR, bad[i].said));
		reading_free(&r);
	}
}

TEST(no_zone_file_at_all)
{
	struct reading r = read_text("zone", &mesh, "{\"table\": {}}\n");

	CHECK(r.diag.errors == 1);
	reading_free(&r);
	r = read_text("zone", &mesh, "; nothing yet\n");
	CHECK(silent(&r) && table_names(r.table) == 0);
	reading_free(&r);
}

static void
write_file(const char *name, const char *text)
{
	char path[200];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	MUST(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Compiles the file "zone" of the directory; NULL if it was refused. */
static struct table *
compile_zone(struct diag *diag)
{
	char path[200];
	struct mesh_source source = { .path = path,
	    .origin = (char[]){ "example" } };
	struct mesh m = mesh;
	struct source_files files;
	int fd = memory_file(NULL, 0);
	struct table *table = NULL;
	const char *why;

	(void)snprintf(path, sizeof(path), "%s/zone", directory);
	source.format = formats_find("zone");
	m.sources = &source;
	m.source_count = 1;
	MUST(source_files_open(&files, &m, diag) == 0);
	if (compile(&files.mesh, files.fds, fd, diag) == 0)
		MUST(table_open(&table, fd, &why) == 0);
	source_files_close(&files);
	close(fd);
	return table;
}

TEST(includes)
{
	static struct diag diag = DIAG_INIT;
	struct table *table;
	unsigned int source, line;
	const char *path;
	size_t length;
	char whole[300];

	(void)snprintf(whole, sizeof(whole), "a A 10.0.0.1\n"
	    "$INCLUDE one sub\n IN AAAA ::1\n$INCLUDE \"%s/two\"\n"
	    "b A 10.0.0.2\n", directory);
	write_file("zone", whole);
	write_file("one", "\n@ A 10.0.1.1\nx A 10.0.1.2\n$ORIGIN else.\n"
	    "y A 10.0.1.3\n");
	write_file("two", "z A 10.0.2.1\n");
	table = compile_zone(&diag);
	CHECK(diag.errors == 0 && diag.warnings == 0);
	MUST(table != NULL);
	CHECK(table_names(table) == 6);
	CHECK(find(table, "sub.example").kind == ENTRY_EXACT);
	CHECK(find(table, "x.sub.example").kind == ENTRY_EXACT);
	CHECK(find(table, "y.else").kind == ENTRY_EXACT);
	CHECK(find(table, "z.example").kind == ENTRY_EXACT);
	/* Behind the $INCLUDE the owner is again the one before it. */
	CHECK(strcmp(address_of(table, find(table, "a.example").node,
	    TYPE_AAAA, 0), "::1") == 0);
	table_origin(table, find(table, "x.sub.example").node, &source, &line);
	path = table_source(table, source, &length);
	CHECK(line == 3 && path != NULL && length > 4 &&
	    memcmp(path + length - 4, "/one", 4) == 0);
	table_origin(table, find(table, "b.example").node, &source, &line);
	CHECK(source == 0 && line == 5);
	table_close(table);
	diag_free(&diag);
}

TEST(includes_that_are_refused)
{
	static const char *const bad[] = { "../zone", "/etc/hostname", "gone",
	    "link", ".", "zone" };
	char path[200];

	(void)snprintf(path, sizeof(path), "%s/link", directory);
	MUST(symlink("/etc/hostname", path) == 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		static struct diag diag = DIAG_INIT;
		char text[100];

		(void)snprintf(text, sizeof(text), "a A 10.0.0.1\n"
		    "$INCLUDE %s\n", bad[i]);
		write_file("zone", text);
		CHECK(compile_zone(&diag) == NULL);
		CHECK(diag.errors == 1);
		diag_free(&diag);
	}
	(void)unlink(path);
}

TEST(chains_that_cannot_be_followed)
{
	static struct diag diag = DIAG_INIT;
	struct table *table;
	char text[2000];
	int n = snprintf(text, sizeof(text),
	    "good CNAME end\nend A 10.0.0.1\nself CNAME self\n"
	    "x CNAME y\ny CNAME x\nto CNAME x\n*.w CNAME a.w\n"
	    "two CNAME end\ntwo CNAME good\nmixed CNAME end\nmixed A ::1\n"
	    "mixed A 10.0.0.2\nlong CNAME c1\n");

	for (int i = 1; i < 16; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
		    "c%d CNAME c%d\n", i, i + 1);
	(void)snprintf(text + n, sizeof(text) - (size_t)n,
	    "c16 A 10.0.0.3\nlonger CNAME long\n");
	write_file("zone", text);
	table = compile_zone(&diag);
	MUST(table != NULL);
	CHECK(diag.errors == 0);
	/* self, x, y, to, *.w, two, mixed, longer, and the A that is none. */
	CHECK(diag.warnings == 9);
	CHECK(find(table, "good.example").kind == ENTRY_EXACT);
	CHECK(find(table, "long.example").kind == ENTRY_EXACT);
	CHECK(find(table, "longer.example").kind != ENTRY_EXACT);
	CHECK(find(table, "x.example").kind != ENTRY_EXACT);
	CHECK(find(table, "b.w.example").kind == ENTRY_NONE);
	CHECK(find(table, "two.example").kind != ENTRY_EXACT);
	CHECK(strcmp(address_of(table, find(table, "mixed.example").node,
	    TYPE_A, 0), "10.0.0.2") == 0);
	CHECK(table_names(table) == 20);
	table_close(table);
	diag_free(&diag);
}

int
main(void)
{
	MUST(mkdtemp(directory) != NULL);
	/* ldns takes and frees a large buffer for each of a million records. */
	(void)mallopt(M_TRIM_THRESHOLD, 16 << 20);
	test_run();
	for (size_t i = 0; i < 3; i++) {
		static const char *const names[] = { "zone", "one", "two" };
		char path[200];

		(void)snprintf(path, sizeof(path), "%s/%s", directory,
		    names[i]);
		(void)unlink(path);
	}
	(void)rmdir(directory);
	return test_summary();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"
#include "tests/source.h"

static struct mesh mesh;

/* A table of one entry, from line 2 on. */
#define ONE(entry) "{\"table\": {\n" entry "}}"
#define GOOD "\"good\": {\"ips\": [\"10.9.9.9\"]}"

static bool
has(const struct reading *r, const char *name, const char *address)
{
	struct entry e = find(r->table, name);

	return e.kind == ENTRY_EXACT &&
	    strcmp(address_of(r->table, e.node, TYPE_A, 0), address) == 0;
}

TEST(names_of_a_kubernetes_service)
{
	struct reading r = read_text("nds", &mesh, ONE(
	    "\"web.own.svc.mesh.test\": {\"ips\": [\"10.0.0.1\","
	    " \"2001:db8::1\"], \"registry\": \"Kubernetes\", \"shortname\":"
	    " \"Web\", \"namespace\": \"own\", \"altHosts\": [\"alt.test.\"]},\n"
	    "\"web.other.svc.mesh.test\": {\"ips\": [\"10.0.0.2\"],"
	    " \"registry\": \"Kubernetes\", \"shortname\": \"web\","
	    " \"namespace\": \"other\", \"alt_hosts\": [\"alt2.test\"]}\n"));
	static const char *const names[] = { "web", "web.own", "web.own.svc",
	    "web.own.svc.mesh.test", "alt.test" };
	unsigned int source, line;
	struct entry e;

	CHECK(silent(&r));
	CHECK(table_names(r.table) == 9);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK(has(&r, names[i], "10.0.0.1"));
		e = find(r.table, names[i]);
		CHECK(e.flags == NAME_OWNED);
		CHECK(strcmp(address_of(r.table, e.node, TYPE_AAAA, 0),
		    "2001:db8::1") == 0);
	}
	CHECK(has(&r, "web.other", "10.0.0.2"));
	CHECK(has(&r, "web.other.svc", "10.0.0.2"));
	CHECK(has(&r, "alt2.test", "10.0.0.2"));
	table_origin(r.table, find(r.table, "web.other").node, &source, &line);
	CHECK(line == 3);
	reading_free(&r);
}

/* They pass then, unless they have another address. */
TEST(allocated_addresses_are_left_out)
{
	struct mesh_source source = { .path = (char[]){ "T" },
		.skip_allocated = true };
	struct mesh without = mesh;
	const char *text = ONE("\"only.test\": {\"ips\": [\"240.240.0.7\","
	    " \"2001:2::f0f0:7\"]},\n\"both.test\": {\"ips\":"
	    " [\"240.240.0.8\", \"10.0.0.1\"], \"altHosts\": [\"x.test\"]}");
	struct reading r;

	without.sources = &source;
	without.source_count = 1;
	r = read_text("nds", &without, text);
	CHECK(silent(&r));
	CHECK(table_names(r.table) == 1);
	CHECK(find(r.table, "only.test").kind == ENTRY_NONE);
	CHECK(has(&r, "both.test", "10.0.0.1"));
	reading_free(&r);
	r = read_text("nds", &mesh, text);
	CHECK(table_names(r.table) == 2 && has(&r, "only.test", "240.240.0.7"));
	reading_free(&r);
}

TEST(names_of_other_hosts)
{
	struct reading r = read_text("nds", &mesh, ONE(
	    "\"www.example.com\": {\"ips\": [\"10.0.0.1\"], \"registry\":"
	    " \"External\", \"shortname\": \"www\", \"namespace\": \"own\","
	    " \"altHosts\": [\"no\"]},"
	    "\"far.own.svc.remote\": {\"ips\": [\"10.0.0.2\"], \"registry\":"
	    " \"Kubernetes\", \"shortname\": \"far\", \"namespace\": \"own\","
	    " \"altHosts\": [\"no\"]},"
	    /* Ends in the domain's letters, not in its labels. */
	    "\"x.own.notsvc.mesh.test\": {\"ips\": [\"10.0.0.3\"], \"registry\":"
	    " \"Kubernetes\", \"shortname\": \"x\", \"namespace\": \"own\"},"
	    "\"*.wild.test\": {\"ips\": [\"10.0.0.4\"]}"));

	CHECK(silent(&r));
	CHECK(table_names(r.table) == 4);
	CHECK(find(r.table, "www.example.com").flags == 0);
	CHECK(find(r.table, "far.own.svc.remote").flags == NAME_OWNED);
	CHECK(find(r.table, "a.b.wild.test").kind == ENTRY_WILDCARD);
	reading_free(&r);
}

TEST(headless_pods_have_dotted_short_names)
{
	struct reading r = read_text("nds", &mesh, ONE(
	    "\"pod.db.own.svc.mesh.test\": {\"ips\": [\"10.0.0.1\"],"
	    " \"registry\": \"Kubernetes\", \"shortname\": \"pod.db\","
	    " \"namespace\": \"own\"}"));

	CHECK(silent(&r));
	CHECK(has(&r, "pod.db", "10.0.0.1"));
	CHECK(has(&r, "pod.db.own.svc", "10.0.0.1"));
	reading_free(&r);
}

TEST(dump_of_the_debug_interface)
{
	static const char *const texts[] = {
		"{\"configs\": [{\"@type\": \"x\", \"table\": {" GOOD "}}]}",
		"{\"configs\": [{}, {\"resource\": {\"table\": {" GOOD "}}}]}",
		"{\"version\": [1, {\"table\": 3}], \"configs\": [7, \"s\","
		" {\"a\": {\"b\": {\"table\": {" GOOD "}}}}], \"z\": null}",
		"{\"t\\u0061ble\": 1, \"table\": {" GOOD "}}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct reading r = read_text("nds", &mesh, texts[i]);

		CHECK(silent(&r));
		CHECK(has(&r, "good", "10.9.9.9"));
		CHECK(table_names(r.table) == 1);
		reading_free(&r);
	}
}

TEST(tables_without_names)
{
	static const char *const texts[] = { "{}", " { } \n",
	    "{\"table\": {}}", "{\"table\": null}",
	    "{\"configs\": [{\"table\": {}}]}" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct reading r = read_text("nds", &mesh, texts[i]);

		CHECK(silent(&r));
		reading_free(&r);
	}
}

TEST(hosts_given_twice_are_joined)
{
	struct reading r = read_text("nds", &mesh, ONE(
	    "\"web.own.svc.mesh.test\": {\"ips\": [\"10.0.0.1\"],"
	    " \"registry\": \"Kubernetes\", \"shortname\": \"web\","
	    " \"namespace\": \"own\"},"
	    "\"WEB.own.svc.mesh.test.\": {\"ips\": [\"10.0.0.1\","
	    " \"10.0.0.2\", \"10.0.0.2\"], \"registry\": \"Kubernetes\","
	    " \"shortname\": \"web\", \"namespace\": \"own\"}"));
	struct rrset rrset;

	CHECK(silent(&r));
	CHECK(table_names(r.table) == 4);
	CHECK(table_rrset(r.table, find(r.table, "web").node, TYPE_A,
	    &rrset) && rrset.count == 2);
	reading_free(&r);
}

TEST(one_bad_entry_and_the_rest_works)
{
	static const struct {
		const char *entry;
		const char *said;
		bool kept;
	} bad[] = {
		{ "\"x\": {\"ips\": []}", "T:2: x has no valid address: ignored"
		    ", questions for it pass", false },
		{ "\"x\": {}", "T:2: x has no valid address: ignored,"
		    " questions for it pass", false },
		{ "\"x\": {\"ips\": [\"10.0.0.1\", \"10.0.0.300\"]}",
		    "T:2: x: \"10.0.0.300\" is neither an IPv4 nor an IPv6"
		    " address: ignored", true },
		{ "\"x\": {\"ips\": [\"10.0.0.1\", 5]}",
		    "T:2: x: \"(not a string)\" is neither an IPv4 nor an IPv6"
		    " address: ignored", true },
		{ "\"x\": {\"ips\": [\"fe80::1%eth0\", \"10.0.0.1\"]}",
		    "T:2: x: \"fe80::1%eth0\" is neither an IPv4 nor an IPv6"
		    " address: ignored", true },
		{ "\"x\": [1]", "T:2: entry of x is not an object: ignored",
		    false },
		{ "\"a..b\": {\"ips\": [\"10.0.0.1\"]}", "T:2: a..b: host"
		    " \"a..b\" is not a valid domain name: ignored", false },
		{ "\"\": {\"ips\": [\"10.0.0.1\"]}",
		    "T:2: an entry has an empty host: ignored", false },
		{ "\"x\": {\"ips\": [\"10.0.0.1\"], \"altHosts\": 3,"
		    " \"registry\": 9, \"shortname\": [], \"more\": {}}",
		    "T:2: \"altHosts\" of x is not an array", true },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[400];
		struct reading r;

		(void)snprintf(text, sizeof(text), ONE("%s, " GOOD),
		    bad[i].entry);
		r = read_text("nds", &mesh, text);
		CHECK(bad[i].said == NULL ? silent(&r) :
		    said(&r, DIAG_WARNING, bad[i].said));
		CHECK(has(&r, "good", "10.9.9.9"));
		CHECK(table_names(r.table) == 1u + bad[i].kept);
		reading_free(&r);
	}
}

TEST(all_addresses_bad)
{
	struct reading r = read_text("nds", &mesh, ONE("\"x\": {\"ips\":"
	    " [\"a\", \"b\"]}, " GOOD));

	CHECK(r.diag.warnings == 3 && r.diag.errors == 0);
	CHECK(find(r.table, "x").kind == ENTRY_NONE);
	CHECK(has(&r, "good", "10.9.9.9"));
	reading_free(&r);
}

/* What is said of a name ignored is what happens to questions for it. */
TEST(left_out_of_a_zone_that_has_no_other_names)
{
	static const char entry[] = ONE("\"x.mesh.test\": {\"ips\": []},\n"
	    "\"x.open.mesh.test\": {\"ips\": []},\n"
	    "\"x.test\": {\"ips\": []}, " GOOD);
	struct mesh owner = mesh;
	struct reading r;

	owner.zones[0] = (struct mesh_zone){ .name = name_of("mesh.test"),
	    .unknown = ZONE_NXDOMAIN };
	owner.zones[1] = (struct mesh_zone){ .name = name_of("open.mesh.test"),
	    .unknown = ZONE_PASS };
	owner.zone_count = 2;
	r = read_text("nds", &owner, entry);
	CHECK(r.diag.warnings == 3);
	CHECK(strcmp(r.diag.entries[0].text, "T:2: x.mesh.test has no valid"
	    " address: ignored, so it does not exist (NXDOMAIN, as mesh.zones"
	    " says)") == 0);
	CHECK(strcmp(r.diag.entries[1].text, "T:3: x.open.mesh.test has no"
	    " valid address: ignored, questions for it pass") == 0);
	CHECK(strcmp(r.diag.entries[2].text, "T:4: x.test has no valid address:"
	    " ignored, questions for it pass") == 0);
	CHECK(find(r.table, "x.mesh.test").unknown == ZONE_NXDOMAIN);
	reading_free(&r);
}

TEST(names_over_the_limits)
{
	char label[65], text[1200];
	struct reading r;

	memset(label, 'a', 64);
	label[64] = '\0';
	(void)snprintf(text, sizeof(text), ONE("\"%s\": {\"ips\":"
	    " [\"10.0.0.1\"]},\n\"%.63s.%.63s.%.63s.%.63s\": {\"ips\":"
	    " [\"10.0.0.1\"]}," GOOD), label, label, label, label, label);
	r = read_text("nds", &mesh, text);
	CHECK(r.diag.warnings == 2 && r.diag.errors == 0);
	CHECK(strncmp(r.diag.entries[0].text, "T:2: ", 5) == 0);
	CHECK(strncmp(r.diag.entries[1].text, "T:3: ", 5) == 0);
	CHECK(has(&r, "good", "10.9.9.9") && table_names(r.table) == 1);
	reading_free(&r);

	/* The host is fine, what follows from it is not. */
	(void)snprintf(text, sizeof(text), ONE("\"x.svc.mesh.test\": {\"ips\":"
	    " [\"10.0.0.1\"], \"registry\": \"Kubernetes\", \"shortname\":"
	    " \"%.63s.%.63s\", \"namespace\": \"%.63s.%.63s\"}"),
	    label, label, label, label);
	r = read_text("nds", &mesh, text);
	CHECK(said(&r, DIAG_WARNING, "T:2: x.svc.mesh.test: shortname and"
	    " namespace make a name over 255 octets: ignored"));
	CHECK(has(&r, "x.svc.mesh.test", "10.0.0.1"));
	reading_free(&r);
}

TEST(texts_that_are_refused)
{
	static const struct {
		const char *text;
		const char *said;
	} bad[] = {
		{ "", "T:1: expected an object, which begins with \"{\", found"
		    " the end of the file: it is cut off or not the JSON form"
		    " of a name table" },
		{ "[1]", "T:1: expected an object, which begins with \"{\","
		    " found \"[\": not valid JSON" },
		{ "{\"other\": 1}", "T: holds no name table: expected"
		    " {\"table\": {...}} or {\"configs\": [...]} with a"
		    " \"table\" inside" },
		{ "{\"table\": {\n\n" GOOD "\n", "T:4: expected \",\" or \"}\","
		    " found the end of the file: it is cut off or not the JSON"
		    " form of a name table" },
		{ ONE(GOOD " " GOOD), "T:2: expected \",\" or \"}\", found"
		    " \"\"\": not valid JSON" },
		{ ONE(GOOD ","), "T:2: expected a member's name in quotes,"
		    " found \"}\": not valid JSON" },
		{ ONE(GOOD) "x", "T:2: expected the end of the text, found"
		    " \"x\": not valid JSON" },
		{ ONE("\"x\": {\"ips\": [\"\\q\"]}"), "T:2: expected a JSON"
		    " escape after a backslash, found \"q\": not valid JSON" },
		{ "{\"table\": 5}", "T:1: expected an object, which begins"
		    " with \"{\", found \"5\": not valid JSON" },
		{ "{\"configs\": {}}", "T:1: expected an array, which begins"
		    " with \"[\", found \"{\": not valid JSON" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct reading r = read_text("nds", &mesh, bad[i].text);

		CHECK(said(&r, DIAG_ERROR, bad[i].said));
		reading_free(&r);
	}
}

/* What only the decoder of one entry sees: still one error, with its line. */
TEST(entries_that_are_no_json)
{
	static const char *const bad[] = {
		ONE("\"x\": {\"ips\":\n [\"\xff\xfe\"]}"),
		ONE("\"x\": {\"ips\":\n [tru]}"),
		ONE("\"x\": {\"ips\": [],\n \"ips\": []}"),
		ONE("\"x\":\n {\"ips\": [\"\\ud800\"]}"),
		ONE("\n\"\xc3\x28\": {}"),
		ONE("\n\"\\u0000\": {}"),
		ONE("\n\"x\": 1.e5.7"),
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct reading r = read_text("nds", &mesh, bad[i]);

		CHECK(r.diag.errors == 1 && r.diag.warnings == 0);
		CHECK(strncmp(r.diag.entries[0].text, "T:3: not valid JSON: ",
		    21) == 0);
		reading_free(&r);
	}
}

TEST(deep_nesting)
{
	size_t deep = 1000000;
	char *text = malloc(deep + 32);
	struct reading r;

	MUST(text != NULL);
	memcpy(text, "{\"x\":", 5);
	memset(text + 5, '[', deep);
	r = read_octets("nds", &mesh, text, deep + 5);
	CHECK(r.diag.errors == 1 && strstr(r.diag.entries[0].text,
	    "at most 64 levels of nesting") != NULL);
	reading_free(&r);
	memcpy(text, "{\"table\":{\"x\":", 14);
	memset(text + 14, '{', deep);
	r = read_octets("nds", &mesh, text, deep + 14);
	CHECK(r.diag.errors == 1);
	reading_free(&r);
	free(text);
}

static size_t
addresses_left_of(unsigned int count)
{
	char *text = NULL;
	struct rrset rrset = { .count = 0 };
	struct reading r;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	MUST(out != NULL);
	fputs("{\"table\":{\"many\":{\"ips\":[", out);
	for (unsigned int i = 0; i < count; i++)
		fprintf(out, "%s\"10.0.%u.%u\"", i > 0 ? "," : "", i >> 8,
		    i & 255);
	fputs("]}}}", out);
	MUST(fclose(out) == 0);
	r = read_octets("nds", &mesh, text, length);
	CHECK(table_rrset(r.table, find(r.table, "many").node, TYPE_A, &rrset));
	reading_free(&r);
	free(text);
	return rrset.count;
}

TEST(a_name_with_many_addresses)
{
	CHECK(addresses_left_of(4096) == 4096);
	CHECK(addresses_left_of(5000) == 4096);
}

/* An earlier table has the host: its short names are still this one's. */
TEST(shadowed_host_keeps_its_other_names)
{
	static const char nds[] = ONE("\"web.own.svc.mesh.test\": {\"ips\":"
	    " [\"10.0.0.1\"], \"registry\": \"Kubernetes\", \"shortname\":"
	    " \"web\", \"namespace\": \"own\"}");
	struct source_text text = { .path = "T", .data = nds,
	    .length = sizeof(nds) - 1, .mesh = &mesh };
	struct builder *b = builder_new(&mesh);
	struct reading r = { .diag = DIAG_INIT };

	MUST(add_address(b, "web.own.svc.mesh.test", 0, "10.7.7.7") == 0);
	builder_source(b, 1);
	MUST(source_nds_read(&text, b, &r.diag) == 0);
	CHECK(builder_shadowed(b) == 1);
	r.table = table_of(b);
	CHECK(has(&r, "web.own.svc.mesh.test", "10.7.7.7"));
	CHECK(has(&r, "web.own", "10.0.0.1"));
	CHECK(has(&r, "web", "10.0.0.1"));
	reading_free(&r);
	builder_free(b);
}

int
main(void)
{
	mesh = (struct mesh){ .ttl = 30,
	    .domain = name_of("mesh.test"), .namespace = (char[]){ "own" } };
	return test_run();
}

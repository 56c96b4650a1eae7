/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ServiceEntries without an address: which they get, and that they keep it. */
#include "tests/check.h"
#include "tests/source.h"

static struct mesh mesh = { .ttl = 30 };

#define OBJECT(kind, name, namespace, meta, rest) \
	"{\"apiVersion\":\"networking.istio.io/v1\",\"kind\":\"" kind "\"," \
	"\"metadata\":{\"name\":\"" name "\",\"namespace\":\"" namespace "\"" \
	meta "}," rest "}"
#define ENTRY(name, meta, rest) OBJECT("ServiceEntry", name, "ns2", meta, rest)
#define HOST(host) "\"spec\":{\"resolution\":\"DNS\",\"hosts\":[\"" host "\"]}"
#define STATUS(items) ",\"status\":{\"addresses\":[" items "]}"

/* Of a mesh that has both families. */
static struct reading
reading_of(const char *text)
{
	static const char dual[] = "{\"apiVersion\":\"v1\",\"kind\":"
	    "\"Service\",\"metadata\":{\"name\":\"dual\"},\"spec\":"
	    "{\"clusterIPs\":[\"10.9.0.1\",\"2001:db8::9\"]}}";
	size_t length = strlen(text);
	char *all = malloc(length + sizeof(dual));
	struct reading r;

	MUST(all != NULL);
	memcpy(all, text, length);
	memcpy(all + length, dual, sizeof(dual));
	r = read_text("kubernetes", &mesh, all);
	free(all);
	return r;
}

/* Both addresses of a name, "-" for one that it lacks. */
static const char *
addresses(const struct reading *r, const char *name)
{
	static char text[128];
	struct entry entry = find(r->table, name);
	char v4[INET6_ADDRSTRLEN];

	if (entry.node == 0)
		return "none";
	(void)snprintf(v4, sizeof(v4), "%s", address_of(r->table, entry.node,
	    TYPE_A, 0));
	(void)snprintf(text, sizeof(text), "%s %s", v4[0] != '\0' ? v4 : "-",
	    address_of(r->table, entry.node, TYPE_AAAA, 0));
	return text;
}

static bool
has(const struct reading *r, const char *name, const char *expected)
{
	const char *got = addresses(r, name);

	if (strcmp(got, expected) == 0)
		return true;
	printf("  %s: \"%s\", expected \"%s\"\n", name, got, expected);
	return false;
}

#define FIRST "random-1.host.example"

/*
 * The families are those that the rest of the table has: an address of 2001:2::/48 that
 * leads nowhere would be tried first by whoever has a route for IPv6.
 */
TEST(families_of_the_table)
{
#define V4 "240.240.116.21"
#define V6 "2001:2::f0f0:7415"
	static const struct {
		const char *others[3];
		const char *expected;
	} cases[] = {
		{ { NULL }, V4 " " },
		{ { "10.0.0.1" }, V4 " " },
		{ { "10.0.0.1", "2001:db8::1" }, V4 " " V6 },
		{ { "2001:db8::1" }, "- " V6 },
		/* Neither leads out of this machine, nor is one of the mesh. */
		{ { "10.0.0.1", "::1", "::" }, V4 " " },
		{ { "2001:2::f0f0:1", "240.240.0.1" }, V4 " " },
		{ { "127.0.0.1", "0.0.0.0", "fd00::1" }, "- " V6 },
	};
	const char *objects = ENTRY("a", "", HOST(FIRST))
	    ENTRY("b", "", HOST("six.example")
	    STATUS("{\"value\":\"2001:2:7::7\"}"))
	    ENTRY("c", "", HOST("dual.example")
	    STATUS("{\"value\":\"240.241.0.8\"},{\"value\":\"2001:2:7::8\"}"));

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct source_text text = { .path = "T", .data = objects,
		    .length = strlen(objects), .mesh = &mesh };
		struct reading r = { .diag = DIAG_INIT };
		struct builder *b = builder_new(&mesh);

		MUST(b != NULL);
		MUST(formats_find("kubernetes")->read(&text, b,
		    &r.diag) == 0);
		/* Tables that come behind count as well. */
		builder_source(b, 1);
		for (size_t n = 0; n < 3 && cases[i].others[n] != NULL; n++)
			MUST(add_address(b, "other.example", 0,
			    cases[i].others[n]) == BUILDER_ADDED);
		r.table = table_of(b);
		CHECK(has(&r, FIRST, cases[i].expected));
		/* What the mesh has for a name is not all taken from it. */
		CHECK(has(&r, "six.example", "- 2001:2:7::7"));
		CHECK((addresses(&r, "dual.example")[0] == '-') ==
		    (cases[i].expected[0] == '-'));
		CHECK((strstr(addresses(&r, "dual.example"), " 2") != NULL) ==
		    (strstr(cases[i].expected, " 2") != NULL));
		builder_free(b);
		reading_free(&r);
	}
}

TEST(a_source_without_them)
{
	struct mesh_source source = { .path = (char[]){ "T" },
		.skip_allocated = true };
	struct mesh without = mesh;
	struct reading r;

	without.sources = &source;
	without.source_count = 1;
	r = read_text("kubernetes", &without, ENTRY("a", "", HOST("a.test")));
	CHECK(silent(&r));
	CHECK(has(&r, "a.test", "none"));
	reading_free(&r);
}

TEST(who_gets_none)
{
	struct reading r = reading_of(
	    ENTRY("a", "", HOST("*.wild.example"))
	    ENTRY("b", ",\"labels\":{\"networking.istio.io/"
	    "enable-autoallocate-ip\":\"false\"}", HOST("declines.example"))
	    ENTRY("c", "", "\"spec\":{\"hosts\":[\"none.example\"]}")
	    ENTRY("d", "", "\"spec\":{\"resolution\":\"STATIC\",\"hosts\":"
	    "[\"prefix.example\"],\"addresses\":[\"10.0.0.0/8\"]}"));

	CHECK(silent(&r));
	CHECK(has(&r, "x.wild.example", "none"));
	CHECK(has(&r, "declines.example", "none"));
	CHECK(has(&r, "none.example", "none"));
	CHECK(has(&r, "prefix.example", "none"));
	reading_free(&r);
}

/*
 * Whoever gave an address that cannot be read wanted that one and no other:
 * istiod leaves the host out.
 */
TEST(malformed_addresses_get_none)
{
	static const char *const cases[] = {
		"[\"1:2::3::4\"]", "[\"10.0.0\",\"10.0.0.0/33\"]", "[7]",
		"[\"0.0.0.0\",\"\"]", "\"10.0.0.1\"", "{}",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		struct reading r;

		(void)snprintf(text, sizeof(text), ENTRY("a", "",
		    "\"spec\":{\"resolution\":\"STATIC\",\"hosts\":"
		    "[\"a.example\"],\"endpoints\":[{\"address\":"
		    "\"10.0.0.1\"}],\"addresses\":%s}")
		    ENTRY("b", "", HOST(FIRST)), cases[i]);
		r = reading_of(text);
		CHECK(r.diag.errors == 0 && r.diag.warnings > 0);
		CHECK(has(&r, "a.example", "none"));
		CHECK(has(&r, FIRST, "240.240.116.21 2001:2::f0f0:7415"));
		reading_free(&r);
	}
}

#define PRIVATE(namespace, created) OBJECT("ServiceEntry", "e", namespace, \
	",\"creationTimestamp\":\"" created "\"", "\"spec\":{" \
	"\"resolution\":\"DNS\",\"hosts\":[\"a.example.com\"]," \
	"\"exportTo\":[\".\",\"both\"]}")

/* As istiod has it for what this machine's namespace sees. */
TEST(one_host_of_two_namespaces)
{
	static const struct {
		const char *namespace;
		const char *first, *second;
	} cases[] = {
		{ "a", "240.240.134.206", "" },
		{ "b", "240.240.41.100", "" },
		{ "both", "240.240.41.100", "240.240.134.206" },
		{ "other", "", "" },
	};
	const char *text = PRIVATE("a", "2024-01-02T00:00:00Z")
	    PRIVATE("b", "2024-01-01T00:00:00Z");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char own[8];
		struct reading r;
		uint32_t node;

		(void)snprintf(own, sizeof(own), "%s", cases[i].namespace);
		mesh.namespace = own;
		r = reading_of(text);
		mesh.namespace = NULL;
		CHECK(silent(&r));
		node = find(r.table, "a.example.com").node;
		CHECK(strcmp(address_of(r.table, node, TYPE_A, 0),
		    cases[i].first) == 0);
		CHECK(strcmp(address_of(r.table, node, TYPE_A, 1),
		    cases[i].second) == 0);
		CHECK(address_of(r.table, node, TYPE_A, 2)[0] == '\0');
		reading_free(&r);
	}
}

/* One service of istiod: whichever entry speaks of it. */
TEST(one_host_of_one_namespace)
{
	struct reading r = reading_of(ENTRY("a", "", HOST(FIRST))
	    ENTRY("b", "", HOST(FIRST)));

	CHECK(silent(&r));
	CHECK(has(&r, FIRST, "240.240.116.21 2001:2::f0f0:7415"));
	CHECK(address_of(r.table, find(r.table, FIRST).node, TYPE_A,
	    1)[0] == '\0');
	reading_free(&r);
}

#define SPEC(rest) "\"spec\":{\"hosts\":[\"b.example\"]," rest "}"

/* Wherever an address is given, and be it for whom we do not see. */
TEST(given_addresses_are_in_the_way)
{
	static const char *const cases[] = {
		ENTRY("b", "", SPEC("\"resolution\":\"STATIC\","
		    "\"addresses\":[\"10.0.0.1\",\"240.240.116.21\"]")),
		ENTRY("b", "", SPEC("\"resolution\":\"STATIC\","
		    "\"addresses\":[\"240.240.116.21/32\"]")),
		ENTRY("b", "", SPEC("\"resolution\":\"STATIC\","
		    "\"addresses\":[\"2001:2::f0f0:7415\"]")),
		ENTRY("b", "", SPEC("\"resolution\":\"STATIC\",\"exportTo\":"
		    "[\"~\"],\"addresses\":[\"240.240.116.21\"]")),
		ENTRY("b", "", SPEC("\"endpoints\":[{\"address\":"
		    "\"240.240.116.21\"}]")),
		OBJECT("WorkloadEntry", "b", "ns2", "", "\"spec\":"
		    "{\"address\":\"240.240.116.21\"}"),
		"{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":"
		    "{\"name\":\"b\"},\"spec\":{\"clusterIP\":"
		    "\"240.240.116.21\"}}",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[2048];
		struct reading r;
		const char *got;

		/* The one that is given comes last, and younger. */
		(void)snprintf(text, sizeof(text), "%s%s", ENTRY("a",
		    ",\"creationTimestamp\":\"2024-01-01T00:00:00Z\"",
		    HOST(FIRST)), cases[i]);
		r = reading_of(text);
		CHECK(silent(&r));
		got = addresses(&r, FIRST);
		CHECK(strncmp(got, "240.240.", 8) == 0);
		CHECK(strncmp(got, "240.240.116.21 ", 15) != 0);
		CHECK(strstr(got, "2001:2::f0f0:7415") == NULL);
		reading_free(&r);
	}
}

/* What istiod's controller gave is what sidecars listen on. */
TEST(status_is_taken_as_it_is)
{
	struct reading r = reading_of(
	    ENTRY("a", "", HOST("a.example\",\"b.example\",\"c.example")
	    STATUS("{\"value\":\"240.240.0.7\",\"host\":\"A.example\"},"
	    "{\"value\":\"2001:2::7\",\"host\":\"a.example\"},"
	    "{\"value\":\"240.240.0.8\",\"host\":\"b.example\"}"))
	    ENTRY("d", "", HOST("d.example")
	    STATUS("{\"value\":\"240.240.0.9\"}"))
	    /* The spec's own addresses go before a status. */
	    ENTRY("e", "", "\"spec\":{\"resolution\":\"DNS\",\"hosts\":"
	    "[\"e.example\"],\"addresses\":[\"10.0.0.1\"]}"
	    STATUS("{\"value\":\"240.240.0.10\"}")));

	CHECK(silent(&r));
	CHECK(has(&r, "a.example", "240.240.0.7 2001:2::7"));
	CHECK(has(&r, "b.example", "240.240.0.8 "));
	CHECK(strncmp(addresses(&r, "c.example"), "240.240.", 8) == 0);
	CHECK(has(&r, "d.example", "240.240.0.9 "));
	CHECK(has(&r, "e.example", "10.0.0.1 "));
	reading_free(&r);
}

/* An address in a status is not computed for somebody else. */
TEST(status_of_another_is_in_the_way)
{
	struct reading r = reading_of(ENTRY("a", "", HOST(FIRST))
	    ENTRY("b", "", HOST("b.example")
	    STATUS("{\"value\":\"240.240.116.21\"}")));

	CHECK(silent(&r));
	CHECK(has(&r, "b.example", "240.240.116.21 "));
	CHECK(strncmp(addresses(&r, FIRST), "240.240.", 8) == 0);
	CHECK(strncmp(addresses(&r, FIRST), "240.240.116.21 ", 15) != 0);
	reading_free(&r);
}

TEST(bad_status)
{
	struct reading r = reading_of(ENTRY("a", "", HOST(FIRST)
	    STATUS("{\"value\":\"240.240.0.256\"}")));

	CHECK(said(&r, DIAG_WARNING, "T:1: ServiceEntry ns2/a:"
	    " \"240.240.0.256\" in status.addresses is not a valid address: ignored"));
	CHECK(has(&r, FIRST, "240.240.116.21 2001:2::f0f0:7415"));
	reading_free(&r);
}

#define MANY 4000

/* Entries from to up to, the nth created in second n, as one text. */
static char *
many_entries(unsigned int from, unsigned int to, bool backwards)
{
	size_t size = (size_t)(to - from) * 300 + 1, length = 0;
	char *text = malloc(size);

	MUST(text != NULL);
	for (unsigned int i = from; i < to; i++) {
		unsigned int n = backwards ? to - 1 - (i - from) : i;

		length += (size_t)snprintf(text + length, size - length,
		    "{\"apiVersion\":\"networking.istio.io/v1\",\"kind\":"
		    "\"ServiceEntry\",\"metadata\":{\"name\":\"e%u\","
		    "\"namespace\":\"ns\",\"creationTimestamp\":"
		    "\"2024-01-01T%02u:%02u:%02uZ\"},\"spec\":{\"resolution\":"
		    "\"DNS\",\"hosts\":[\"h%u.example\"]}}", n, n / 3600,
		    n / 60 % 60, n % 60, n);
	}
	return text;
}

static uint32_t
last_octets(const struct reading *r, unsigned int n)
{
	char name[32];
	struct rrset rrset;

	(void)snprintf(name, sizeof(name), "h%u.example", n);
	MUST(table_rrset(r->table, find(r->table, name).node, TYPE_A,
	    &rrset));
	MUST(rrset.count == 1 && rrset.rdata[0] == 240 &&
	    rrset.rdata[1] == 240);
	return (uint32_t)(rrset.rdata[2] << 8 | rrset.rdata[3]);
}

/*
 * Thousands, of which many collide: all differ, the order in the file does not
 * matter, and entries that come later move none of those before.
 */
TEST(adding_moves_nobody)
{
	static uint8_t taken[65536];
	char *half = many_entries(0, MANY / 2, false);
	char *all = many_entries(0, MANY, true);
	struct reading before = reading_of(half), after = reading_of(all);
	unsigned int moved = 0, twice = 0;

	CHECK(silent(&before) && silent(&after));
	for (unsigned int n = 0; n < MANY; n++) {
		uint32_t address = last_octets(&after, n);

		twice += taken[address]++;
		if (n < MANY / 2)
			moved += last_octets(&before, n) != address;
	}
	CHECK(moved == 0);
	CHECK(twice == 0);
	reading_free(&before);
	reading_free(&after);
	free(half);
	free(all);
}

int
main(void)
{
	mesh.domain = name_of("cluster.local");
	return test_run();
}

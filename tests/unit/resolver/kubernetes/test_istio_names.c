/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which names ServiceEntries and WorkloadEntries make, and with what addresses. */
#include "tests/check.h"
#include "tests/source.h"

static char own_namespace[] = "shop";
static struct mesh mesh = { .ttl = 30,
    .namespace = own_namespace };

#define META(kind, name, more) "{\"apiVersion\":\"networking.istio.io/v1\"," \
	"\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name "\"," \
	"\"namespace\":\"ns\"" more "}"
#define ENTRY(name, spec) META("ServiceEntry", name, "") \
	",\"spec\":{" spec "}}"
#define AGED(name, created, spec) META("ServiceEntry", name, \
	",\"creationTimestamp\":\"" created "\"") ",\"spec\":{" spec "}}"
#define HOST(host) "\"hosts\":[\"" host "\"]"
#define WORKLOAD(name, app, spec) META("WorkloadEntry", name, \
	",\"labels\":{\"app\":\"" app "\"}") ",\"spec\":{" spec "}}"

static struct reading
reading_of(const char *text)
{
	return read_text("kubernetes", &mesh, text);
}

/* The addresses of a name, both families, each with a blank behind it. */
static const char *
addresses(const struct reading *r, const char *name)
{
	static char text[512];
	static const uint16_t types[] = { TYPE_A, TYPE_AAAA };
	struct entry entry = find(r->table, name);
	size_t length = 0;

	text[0] = '\0';
	if (entry.kind != ENTRY_EXACT && entry.kind != ENTRY_WILDCARD)
		return "none";
	for (size_t t = 0; t < 2; t++) {
		const char *one;

		for (uint32_t n = 0; *(one = address_of(r->table, entry.node,
		    types[t], n)) != '\0'; n++)
			length += (size_t)snprintf(text + length,
			    sizeof(text) - length, "%s ", one);
	}
	return text;
}

/* Checks the addresses of a name and shows what they are instead. */
static bool
has(const struct reading *r, const char *name, const char *expected)
{
	const char *got = addresses(r, name);

	if (strcmp(got, expected) == 0)
		return true;
	printf("  %s: \"%s\", expected \"%s\"\n", name, got, expected);
	return false;
}

TEST(addresses_are_the_answer)
{
	struct reading r = reading_of(ENTRY("a", "\"hosts\":[\"A.example.\","
	    "\"*.b.example\"],\"addresses\":[\"10.0.0.1\",\"2001:db8::1\","
	    "\"10.0.0.2/32\",\"2001:db8::2/128\"],\"resolution\":\"STATIC\","
	    "\"endpoints\":[{\"address\":\"10.9.9.9\"}]"));
	static const char all[] =
	    "10.0.0.1 10.0.0.2 2001:db8::1 2001:db8::2 ";

	CHECK(silent(&r));
	CHECK(has(&r, "a.example", all));
	CHECK(has(&r, "any.b.example", all));
	CHECK(has(&r, "b.example", "none"));
	/* The real nameserver has other types of them. */
	CHECK((find(r.table, "a.example").flags & NAME_OWNED) == 0);
	reading_free(&r);
}

TEST(prefixes_make_no_name)
{
	struct reading r = reading_of(ENTRY("a", HOST("a.example")
	    ",\"addresses\":[\"198.51.100.0/31\",\"2001:db8::/64\"],"
	    "\"resolution\":\"DNS\""));

	CHECK(silent(&r));
	CHECK(has(&r, "a.example", "none"));
	reading_free(&r);
}

TEST(unspecified_is_no_address)
{
	struct reading r = reading_of(ENTRY("a", HOST("a.example")
	    ",\"addresses\":[\"0.0.0.0\"],\"resolution\":\"NONE\","
	    "\"endpoints\":[{\"address\":\"10.0.0.1\"}]"));

	CHECK(silent(&r));
	CHECK(has(&r, "a.example", "10.0.0.1 "));
	reading_free(&r);
}

TEST(none_has_its_endpoints)
{
	struct reading r = reading_of(
	    ENTRY("a", HOST("a.example") ",\"resolution\":\"NONE\","
	    "\"endpoints\":[{\"address\":\"10.0.0.1\"},"
	    "{\"address\":\"2001:db8::1\"},{\"address\":\"x.example\"},"
	    "{\"address\":\"unix:///run/x\"},{\"network\":\"n\"}]")
	    ENTRY("b", HOST("b.example") ",\"endpoints\":["
	    "{\"address\":\"10.0.0.2\"}]")
	    ENTRY("c", HOST("c.example") ",\"resolution\":\"NONE\""));

	CHECK(silent(&r));
	CHECK(has(&r, "a.example", "10.0.0.1 2001:db8::1 "));
	CHECK(has(&r, "b.example", "10.0.0.2 "));
	CHECK(has(&r, "c.example", "none"));
	reading_free(&r);
}

#define SELECTOR(labels) ",\"workloadSelector\":{\"labels\":{" labels "}}"

TEST(none_has_the_workloads_it_selects)
{
	struct reading r = reading_of(
	    WORKLOAD("w1", "x", "\"address\":\"10.0.0.1\"")
	    ENTRY("a", HOST("a.example") SELECTOR("\"app\":\"x\""))
	    ENTRY("b", HOST("b.example")
	    SELECTOR("\"app\":\"x\",\"version\":\"2\""))
	    ENTRY("c", HOST("c.example") ",\"workloadSelector\":{}")
	    WORKLOAD("w2", "x", "\"address\":\"10.0.0.2\","
	    "\"labels\":{\"version\":\"2\"}")
	    WORKLOAD("w3", "y", "\"address\":\"10.0.0.3\","
	    "\"labels\":{\"app\":\"x\"}")
	    "{\"apiVersion\":\"networking.istio.io/v1beta1\",\"kind\":"
	    "\"WorkloadEntry\",\"metadata\":{\"name\":\"w1\",\"namespace\":"
	    "\"other\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"address\":"
	    "\"10.0.0.4\"}}");

	CHECK(silent(&r));
	CHECK(has(&r, "a.example", "10.0.0.1 10.0.0.2 "));
	CHECK(has(&r, "b.example", "10.0.0.2 "));
	CHECK(has(&r, "c.example", "none"));
	reading_free(&r);
}

#define POD(name, more) "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"," \
	"\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ns\"," \
	"\"labels\":{\"app\":\"x\"}},\"status\":{" more "}}"
#define IPS(one, two) "\"podIPs\":[{\"ip\":\"" one "\"},{\"ip\":\"" two "\"}]"
#define READY(status) ",\"phase\":\"Running\",\"conditions\":[{\"type\":" \
	"\"Ready\",\"status\":\"" status "\"}]"

TEST(none_has_the_pods_it_selects)
{
	struct reading r = reading_of(
	    POD("p1", IPS("10.0.0.1", "2001:db8::1") READY("True"))
	    POD("p2", IPS("10.0.0.2", "2001:db8::2") READY("False"))
	    POD("p3", IPS("10.0.0.3", "2001:db8::3")
	    ",\"phase\":\"Succeeded\"")
	    ENTRY("a", HOST("a.example") SELECTOR("\"app\":\"x\""))
	    ENTRY("b", HOST("b.example") SELECTOR("\"app\":\"y\"")));

	CHECK(silent(&r));
	CHECK(has(&r, "a.example", "10.0.0.1 2001:db8::1 "));
	CHECK(has(&r, "b.example", "none"));
	reading_free(&r);
}

TEST(unhealthy_workloads_are_left_out)
{
	struct reading r = reading_of(
	    ENTRY("a", HOST("a.example") SELECTOR("\"app\":\"x\""))
	    WORKLOAD("w1", "x", "\"address\":\"10.0.0.1\"")
	    META("WorkloadEntry", "w2", ",\"labels\":{\"app\":\"x\"}")
	    ",\"spec\":{\"address\":\"10.0.0.2\"},\"status\":{\"conditions\":"
	    "[{\"type\":\"Other\",\"status\":\"False\"},"
	    "{\"type\":\"Healthy\",\"status\":\"False\"}]}}");

	CHECK(silent(&r));
	CHECK(has(&r, "a.example", "10.0.0.1 "));
	reading_free(&r);
}

/* Of workloads in several networks and clusters. */
TEST(only_near_endpoints)
{
	static char one[] = "one";
	static const char text[] = ENTRY("a", HOST("a.example")
	    ",\"endpoints\":[{\"address\":\"10.0.0.1\",\"network\":\"one\"},"
	    "{\"address\":\"10.0.0.2\",\"network\":\"two\"},"
	    "{\"address\":\"10.0.0.3\"},{\"address\":\"10.0.0.4\","
	    "\"labels\":{\"topology.istio.io/network\":\"two\"}},"
	    "{\"address\":\"10.0.0.5\","
	    "\"labels\":{\"topology.istio.io/cluster\":\"two\"}}]");
	struct reading r = reading_of(text);

	CHECK(has(&r, "a.example",
	    "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.5 "));
	reading_free(&r);
	mesh.network = mesh.cluster = one;
	r = reading_of(text);
	CHECK(has(&r, "a.example", "10.0.0.1 10.0.0.3 10.0.0.5 "));
	reading_free(&r);
	mesh.network = mesh.cluster = NULL;
}

TEST(kubernetes_comes_first)
{
	struct reading r = reading_of(
	    ENTRY("a", "\"hosts\":[\"web.ns.svc.cluster.local\","
	    "\"empty.ns.svc.cluster.local\"],\"addresses\":[\"10.0.0.1\"]")
	    "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":"
	    "{\"name\":\"web\",\"namespace\":\"ns\"},\"spec\":"
	    "{\"clusterIP\":\"10.0.0.2\"}}"
	    "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":"
	    "{\"name\":\"empty\",\"namespace\":\"ns\"},\"spec\":"
	    "{\"clusterIP\":\"None\"}}");

	CHECK(silent(&r));
	CHECK(has(&r, "web.ns.svc.cluster.local", "10.0.0.2 "));
	CHECK(has(&r, "empty.ns.svc.cluster.local", "10.0.0.1 "));
	reading_free(&r);
}

TEST(equal_hosts_are_joined)
{
	struct reading r = reading_of(
	    AGED("a", "2024-02-01T00:00:00Z", HOST("a.example")
	    ",\"addresses\":[\"10.0.0.2\",\"10.0.0.3\"]")
	    AGED("b", "2024-01-01T00:00:00Z", HOST("a.example")
	    ",\"addresses\":[\"10.0.0.1\",\"10.0.0.3\"]")
	    ENTRY("0", HOST("A.example") ",\"addresses\":[\"10.0.0.4\"]"));

	CHECK(silent(&r));
	CHECK(has(&r, "a.example", "10.0.0.1 10.0.0.3 10.0.0.2 10.0.0.4 "));
	reading_free(&r);
}

TEST(only_what_is_exported_to_us)
{
#define TO(host, to) ENTRY(host, HOST(host ".example") \
	",\"addresses\":[\"10.0.0.1\"],\"exportTo\":[" to "]")
	struct reading r = reading_of(TO("all", "\"*\"")
	    TO("own", "\"other\",\"shop\"") TO("nobody", "\"~\"")
	    TO("theirs", "\".\"") TO("empty", ""));

	CHECK(silent(&r));
	CHECK(has(&r, "all.example", "10.0.0.1 "));
	CHECK(has(&r, "own.example", "10.0.0.1 "));
	CHECK(has(&r, "empty.example", "10.0.0.1 "));
	CHECK(has(&r, "nobody.example", "none"));
	CHECK(has(&r, "theirs.example", "none"));
	reading_free(&r);
	own_namespace[0] = 'n';
	own_namespace[1] = 's';
	own_namespace[2] = '\0';
	r = reading_of(TO("theirs", "\".\""));
	CHECK(has(&r, "theirs.example", "10.0.0.1 "));
	reading_free(&r);
	memcpy(own_namespace, "shop", sizeof("shop"));
}

/* What cannot be used is ignored with a warning; the rest has its names. */
TEST(bad_parts)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{ ENTRY("a", "\"resolution\":\"DNS\""),
		  "T:1: ServiceEntry ns/a: has no spec.hosts: ignored" },
		{ ENTRY("a", "\"hosts\":\"x\""),
		  "T:1: ServiceEntry ns/a: has no spec.hosts: ignored" },
		{ ENTRY("a", "\"hosts\":[\"x..y\",7]"),
		  "T:1: ServiceEntry ns/a: host \"x..y\" is not a valid domain name of"
		  " labels up to 63 octets: ignored" },
		{ ENTRY("a", HOST("*")),
		  "T:1: ServiceEntry ns/a: host \"*\" is not a valid domain name of"
		  " labels up to 63 octets: ignored" },
		{ ENTRY("a", HOST("x") ",\"resolution\":\"MAGIC\""),
		  "T:1: ServiceEntry ns/a: resolution \"MAGIC\" is not known:"
		  " ignored" },
		{ ENTRY("a", HOST("x") ",\"addresses\":[\"10.0.0\"]"),
		  "T:1: ServiceEntry ns/a: \"10.0.0\" in addresses is neither"
		  " an address nor a prefix: ignored" },
		{ ENTRY("a", HOST("x") ",\"addresses\":[\"10.0.0.0/33\"]"),
		  "T:1: ServiceEntry ns/a: \"10.0.0.0/33\" in addresses is"
		  " neither an address nor a prefix: ignored" },
		{ ENTRY("a", HOST("x") ",\"addresses\":[\"10.0.0.0/ 8\"]"),
		  "T:1: ServiceEntry ns/a: \"10.0.0.0/ 8\" in addresses is"
		  " neither an address nor a prefix: ignored" },
		{ ENTRY("a", HOST("x") ",\"endpoints\":[{\"address\":7}]"),
		  "T:1: ServiceEntry ns/a: address \"(not a string)\" is"
		  " neither an address nor a name: ignored" },
		{ WORKLOAD("w", "x", "\"address\":\"1..2\""),
		  "T:1: WorkloadEntry ns/w: address \"1..2\" is neither an"
		  " address nor a name: ignored" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[2048];
		struct reading r;

		(void)snprintf(text, sizeof(text), "%s%s", cases[i].text,
		    ENTRY("good", HOST("good.example")
		    ",\"addresses\":[\"10.0.0.1\"]"));
		r = reading_of(text);
		CHECK(r.diag.errors == 0 && r.diag.warnings > 0);
		CHECK(r.diag.kept > 0 && strcmp(r.diag.entries[0].text,
		    cases[i].said) == 0);
		CHECK(has(&r, "good.example", "10.0.0.1 "));
		CHECK(table_names(r.table) == 2);	/* and dns-version */
		reading_free(&r);
	}
}

int
main(void)
{
	mesh.domain = name_of("cluster.local");
	return test_run();
}

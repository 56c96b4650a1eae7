/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kubernetes objects of several clusters and networks, and files read together. */
#include "tests/check.h"
#include "tests/source.h"

static char one[] = "one", two[] = "two";
static char paths[][2] = { "A", "B" };
static struct mesh_source sources[2];
static struct mesh mesh = { .ttl = 30,
    .sources = sources, .source_count = 2 };

#define OBJECT(group, kind, name, meta, rest) "{\"apiVersion\":\"" group "v1\"," \
	"\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name "\"," \
	"\"namespace\":\"n\"" meta "}," rest "}"
#define SERVICE(name, ip) OBJECT("", "Service", name, "", \
	"\"spec\":{\"clusterIP\":\"" ip "\",\"ports\":[{\"name\":\"p\"," \
	"\"port\":80}]}")
#define SLICE(name, service, hostname, ip) OBJECT("discovery.k8s.io/", \
	"EndpointSlice", name, ",\"labels\":{\"kubernetes.io/service-name\":" \
	"\"" service "\"}", "\"addressType\":\"IPv4\",\"endpoints\":[{" \
	hostname "\"addresses\":[\"" ip "\"]}]")
#define ENTRY(name, host, ip) OBJECT("networking.istio.io/", "ServiceEntry", \
	name, "", "\"spec\":{\"hosts\":[\"" host "\"],\"addresses\":[\"" ip \
	"\"]}")

/* Reads both texts together, each from its own path. */
static struct reading
read_both(const char *first, const char *second)
{
	const struct source_format *format = formats_find("kubernetes");
	const char *texts[] = { first, second };
	struct reading reading = { .diag = DIAG_INIT };
	struct builder *b = builder_new(&mesh);
	struct source_set *set;

	MUST(b != NULL);
	builder_source(b, 0);
	set = format->begin(b, &reading.diag);
	MUST(set != NULL);
	for (unsigned int i = 0; i < 2; i++) {
		struct source_text text = { .path = paths[i],
		    .data = texts[i], .length = strlen(texts[i]),
		    .mesh = &mesh, .source = &sources[i], .file = i };

		sources[i].path = paths[i];
		MUST(format->add(set, &text) == 0);
	}
	MUST(format->end(set, true) == 0);
	reading.table = table_of(b);
	builder_free(b);
	return reading;
}

/* The IPv4 addresses of a name, each with a blank behind it. */
static bool
has(const struct reading *r, const char *name, const char *expected)
{
	struct entry entry = find(r->table, name);
	char text[256] = "";
	const char *address;
	size_t length = 0;

	for (uint32_t n = 0; entry.node != 0 && *(address = address_of(
	    r->table, entry.node, TYPE_A, n)) != '\0'; n++)
		length += (size_t)snprintf(text + length,
		    sizeof(text) - length, "%s ", address);
	if (strcmp(text, expected) == 0)
		return true;
	printf("  %s: \"%s\", expected \"%s\"\n", name, text, expected);
	return false;
}

static void
from_clusters(char *first, char *second, char *own)
{
	sources[0].cluster = first;
	sources[1].cluster = second;
	mesh.cluster = own;
}

/* Files of one cluster complete each other, and messages say which it is. */
TEST(one_cluster_in_two_files)
{
	struct reading r;
	unsigned int source, line;

	from_clusters(NULL, NULL, NULL);
	r = read_both(SLICE("s", "web", "\"hostname\":\"h\",", "10.1.0.1"),
	    "\n" SERVICE("web", "None") "\n" SERVICE("db", "10.0.0.x"));
	CHECK(said(&r, DIAG_WARNING, "B:3: Service n/db: \"10.0.0.x\" is not a valid"
	    " address: ignored"));
	CHECK(has(&r, "web.n.svc.cluster.local", "10.1.0.1 "));
	CHECK(has(&r, "h.web.n.svc.cluster.local", "10.1.0.1 "));
	CHECK(has(&r, "h.web.n", "10.1.0.1 "));
	table_origin(r.table, find(r.table, "web.n.svc.cluster.local").node,
	    &source, &line);
	CHECK(source == 1 && line == 2);
	reading_free(&r);
	r = read_both(SERVICE("web", "10.0.0.1"), SERVICE("web", "10.0.0.2"));
	CHECK(r.diag.warnings == 1);
	CHECK(has(&r, "web.n.svc.cluster.local", "10.0.0.1 "));
	reading_free(&r);
}

TEST(own_service_comes_first)
{
	static const char first[] = SERVICE("web", "10.0.0.1")
	    SERVICE("there", "10.0.0.3");
	static const char second[] = SERVICE("web", "10.0.0.2");
	struct reading r;

	from_clusters(one, two, two);
	r = read_both(first, second);
	CHECK(silent(&r));
	CHECK(has(&r, "web.n.svc.cluster.local", "10.0.0.2 "));
	CHECK(has(&r, "web.n", "10.0.0.2 "));
	CHECK(has(&r, "there.n.svc.cluster.local", "10.0.0.3 "));
	reading_free(&r);
	from_clusters(one, two, one);
	r = read_both(first, second);
	CHECK(silent(&r));
	CHECK(has(&r, "web.n.svc.cluster.local", "10.0.0.1 "));
	reading_free(&r);
	/* Nothing is known: the first. */
	from_clusters(one, two, NULL);
	r = read_both(first, second);
	CHECK(silent(&r));
	CHECK(has(&r, "web.n.svc.cluster.local", "10.0.0.1 "));
	reading_free(&r);
}

TEST(headless_in_two_clusters)
{
	static const char first[] = SERVICE("db", "None")
	    SLICE("s1", "db", "\"hostname\":\"h0\",", "10.1.0.1")
	    SLICE("s2", "db", "\"hostname\":\"h1\",", "10.1.0.2");
	static const char second[] = SERVICE("db", "None")
	    SLICE("s1", "db", "\"hostname\":\"h0\",", "10.2.0.1");
	struct reading r;

	from_clusters(one, two, two);
	r = read_both(first, second);
	CHECK(silent(&r));
	CHECK(has(&r, "db.n.svc.cluster.local",
	    "10.1.0.1 10.1.0.2 10.2.0.1 "));
	CHECK(has(&r, "h0.db.n.svc.cluster.local", "10.2.0.1 "));
	CHECK(has(&r, "h1.db.n.svc.cluster.local", "10.1.0.2 "));
	reading_free(&r);
	/* What is in another network is not there. */
	sources[0].network = one;
	mesh.network = two;
	r = read_both(first, second);
	CHECK(has(&r, "db.n.svc.cluster.local", "10.2.0.1 "));
	CHECK(has(&r, "h1.db.n.svc.cluster.local", ""));
	reading_free(&r);
	sources[0].network = mesh.network = NULL;
}

TEST(own_entry_comes_first)
{
	struct reading r;

	from_clusters(one, two, two);
	r = read_both(ENTRY("e", "a.example", "10.0.0.1")
	    ENTRY("f", "b.example", "10.0.0.2"),
	    ENTRY("e", "a.example", "10.0.0.3"));
	CHECK(silent(&r));
	CHECK(has(&r, "a.example", "10.0.0.3 "));
	CHECK(has(&r, "b.example", "10.0.0.2 "));
	reading_free(&r);
	/* One that this machine does not see is in nobody's way. */
	r = read_both(ENTRY("e", "a.example", "10.0.0.1"),
	    ENTRY("e", "a.example", "10.0.0.3\"],\"exportTo\":[\"."));
	CHECK(silent(&r));
	CHECK(has(&r, "a.example", "10.0.0.1 "));
	reading_free(&r);
}

/* A service of the cluster, under a name that an entry has too. */
TEST(short_names_are_the_clusters)
{
	struct reading r;

	from_clusters(NULL, NULL, NULL);
	r = read_both(ENTRY("e", "web.n", "10.0.0.1"),
	    SERVICE("web", "10.0.0.2"));
	CHECK(silent(&r));
	CHECK(has(&r, "web.n", "10.0.0.2 "));
	CHECK(has(&r, "web.n.svc", "10.0.0.2 "));
	CHECK((find(r.table, "web.n").flags & NAME_OWNED) != 0);
	reading_free(&r);
}

int
main(void)
{
	mesh.domain = name_of("cluster.local");
	return test_run();
}

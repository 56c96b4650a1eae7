/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding objects in texts; what names they make stands in test_kubernetes_names.c. */
#include "tests/check.h"
#include "tests/source.h"

static struct mesh mesh = { .ttl = 30 };

#define SERVICE(name, ip) "{\"apiVersion\":\"v1\",\"kind\":\"Service\"," \
	"\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\"}," \
	"\"spec\":{\"clusterIP\":\"" ip "\"}}"

static struct reading
reading_of(const char *text)
{
	return read_text("kubernetes", &mesh, text);
}

static bool
has(const struct reading *r, const char *name, const char *address)
{
	struct entry entry = find(r->table, name);

	return strcmp(address_of(r->table, entry.node, TYPE_A, 0),
	    address) == 0;
}

TEST(list_of_kubectl)
{
	struct reading r = reading_of("{\n\"apiVersion\": \"v1\",\n"
	    "\"items\": [\n" SERVICE("a", "10.0.0.1") ",\n"
	    SERVICE("b", "10.0.0.2") "\n],\n\"kind\": \"List\",\n"
	    "\"metadata\": {\"resourceVersion\": \"\"}\n}\n");
	unsigned int source, line;

	CHECK(silent(&r));
	CHECK(has(&r, "a.n.svc.cluster.local", "10.0.0.1"));
	CHECK(has(&r, "b.n.svc.cluster.local", "10.0.0.2"));
	table_origin(r.table, find(r.table, "b.n.svc.cluster.local").node,
	    &source, &line);
	CHECK(line == 5);
	reading_free(&r);
}

/* The API itself: items do not say what they are. */
TEST(list_of_one_kind)
{
	static const char items[] = "\"items\":[{\"metadata\":{\"name\":\"a\","
	    "\"namespace\":\"n\"},\"spec\":{\"clusterIP\":\"10.0.0.1\"}}]";
	char text[400];
	struct reading r;

	(void)snprintf(text, sizeof(text), "{\"kind\":\"ServiceList\","
	    "\"apiVersion\":\"v1\",%s}", items);
	r = reading_of(text);
	CHECK(silent(&r));
	CHECK(has(&r, "a.n.svc.cluster.local", "10.0.0.1"));
	reading_free(&r);
	(void)snprintf(text, sizeof(text), "{\"apiVersion\":\"v1\",%s,"
	    "\"kind\":\"ServiceList\"}", items);
	r = reading_of(text);
	CHECK(silent(&r));
	CHECK(has(&r, "a.n.svc.cluster.local", "10.0.0.1"));
	reading_free(&r);
}

TEST(several_documents)
{
	struct reading r = reading_of(SERVICE("a", "10.0.0.1") "\n"
	    "{\"kind\":\"List\",\"items\":[" SERVICE("b", "10.0.0.2") "]}"
	    SERVICE("c", "10.0.0.3"));

	CHECK(silent(&r));
	CHECK(has(&r, "a.n.svc.cluster.local", "10.0.0.1"));
	CHECK(has(&r, "b.n.svc.cluster.local", "10.0.0.2"));
	CHECK(has(&r, "c.n.svc.cluster.local", "10.0.0.3"));
	reading_free(&r);
}

TEST(empty_lists)
{
	struct reading r = reading_of("{\"kind\":\"List\",\"items\":[]}"
	    "{\"kind\":\"ServiceList\",\"items\":null}");

	CHECK(silent(&r));
	CHECK(table_names(r.table) == 1);	/* dns-version */
	reading_free(&r);
}

TEST(other_kinds_are_none_of_ours)
{
	struct reading r = reading_of("{\"kind\":\"Service\",\"apiVersion\":"
	    "\"serving.knative.dev/v1\",\"metadata\":{\"name\":\"a\"}}"
	    "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"}");

	CHECK(silent(&r));
	CHECK(table_names(r.table) == 1);
	reading_free(&r);
}

TEST(nothing_in_it)
{
	struct reading r = reading_of(" \n");

	CHECK(said(&r, DIAG_ERROR, "T: holds no Kubernetes objects: expected"
	    " what \"kubectl get ... -o json\" writes"));
	reading_free(&r);
}

TEST(cut_off)
{
	struct reading r = reading_of("{\"kind\":\"List\",\"items\":[\n"
	    SERVICE("a", "10.0.0.1") ",\n{\"kind\":");

	CHECK(said(&r, DIAG_ERROR, "T:3: expected a value, found the end of"
	    " the file: it is cut off"));
	reading_free(&r);
}

TEST(not_json)
{
	struct reading r = reading_of("{\"kind\":\"List\",\"items\":[\n{\n"
	    "\"kind\":\"Service\",\n\"metadata\":{\"name\":nul}}]}");

	CHECK(said(&r, DIAG_ERROR, "T:4: not valid JSON: invalid token"));
	reading_free(&r);
}

TEST(item_that_is_no_object)
{
	struct reading r = reading_of("{\"kind\":\"ServiceList\",\"items\":["
	    "\n7]}");

	CHECK(said(&r, DIAG_WARNING, "T:2: no Kubernetes object, which has a"
	    " \"kind\": ignored"));
	reading_free(&r);
}

TEST(object_without_name)
{
	struct reading r = reading_of("{\"kind\":\"Service\",\"apiVersion\":"
	    "\"v1\",\"metadata\":{\"namespace\":\"n\"}}"
	    SERVICE("a", "10.0.0.1"));

	CHECK(said(&r, DIAG_WARNING, "T:1: Service n/: has no metadata.name:"
	    " ignored"));
	CHECK(has(&r, "a.n.svc.cluster.local", "10.0.0.1"));
	reading_free(&r);
}

TEST(object_twice)
{
	struct reading r = reading_of(SERVICE("a", "10.0.0.1") "\n"
	    SERVICE("a", "10.0.0.2"));

	CHECK(said(&r, DIAG_WARNING, "T:2: Service n/a: is defined before"
	    " on line 1: ignored"));
	CHECK(has(&r, "a.n.svc.cluster.local", "10.0.0.1"));
	reading_free(&r);
}

int
main(void)
{
	mesh.domain = name_of("cluster.local");
	return test_run();
}

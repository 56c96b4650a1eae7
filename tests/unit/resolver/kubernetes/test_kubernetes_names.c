/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What names Kubernetes objects make, and what is said about bad ones. */
#include "resolver/kubernetes/kubernetes.h"
#include "resolver/dns/rdata.h"
#include "tests/check.h"
#include "tests/source.h"

static char own[] = "n", *namespaces[] = { own };
static struct mesh_source source;
static struct mesh mesh = { .ttl = 30,
	.zone_count = 1 };

#define OBJECT(version, kind, name, rest) "{\"apiVersion\":\"" version \
	"\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name \
	"\",\"namespace\":\"n\"}," rest "}\n"
#define SERVICE(name, spec) OBJECT("v1", "Service", name, "\"spec\":{" spec "}")
#define SLICE(name, service, type, rest) \
	"{\"apiVersion\":\"discovery.k8s.io/v1\",\"kind\":\"EndpointSlice\"," \
	"\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"labels\":" \
	"{\"kubernetes.io/service-name\":\"" service "\"}}," \
	"\"addressType\":\"" type "\"," rest "}\n"
#define HTTP "\"ports\":[{\"name\":\"http\",\"port\":80}]"
#define READY(address) "{\"addresses\":[\"" address "\"]}"

/* Reads objects with the options of "source". */
static struct reading
make(const char *objects)
{
	struct reading r = { .diag = DIAG_INIT };
	struct source_text text = { .path = "T", .data = objects,
	    .length = strlen(objects), .mesh = &mesh, .source = &source };
	struct builder *b = builder_new(&mesh);

	MUST(b != NULL);
	MUST(formats_find("kubernetes")->read(&text, b, &r.diag) == 0);
	r.table = table_of(b);
	builder_free(b);
	source = (struct mesh_source){ .line = 1 };
	return r;
}

/* All records of a type, as text with blanks between them, in a static buffer. */
static const char *
records(const struct reading *r, const char *name, uint16_t type)
{
	static char text[2000];
	struct entry entry = find(r->table, name);
	struct rrset rrset;
	const uint8_t *at;
	size_t used = 0;

	text[0] = '\0';
	if (entry.node == 0 ||
	    !table_rrset(r->table, entry.node, type, &rrset))
		return text;
	at = rrset.rdata;
	for (uint32_t i = 0; i < rrset.count; i++) {
		size_t length = rrset.rdlength != 0 ? rrset.rdlength :
		    (size_t)at[0] << 8 | at[1];
		char *one;

		at += rrset.rdlength != 0 ? 0 : 2;
		one = rdata_to_text(type, at, length);
		MUST(one != NULL);
		used += (size_t)snprintf(text + used, sizeof(text) - used,
		    "%s%s", used > 0 ? " " : "", one);
		free(one);
		at += length;
	}
	return text;
}

static bool
is(const struct reading *r, const char *name, uint16_t type, const char *wanted)
{
	const char *got = records(r, name, type);

	if (strcmp(got, wanted) == 0)
		return true;
	printf("  %s: \"%s\", not \"%s\"\n", name, got, wanted);
	return false;
}

static enum entry_kind
kind_of(const struct reading *r, const char *name)
{
	return find(r->table, name).kind;
}

TEST(service_with_two_families)
{
	struct reading r = make(SERVICE("a", "\"clusterIP\":\"10.0.0.1\","
	    "\"clusterIPs\":[\"10.0.0.1\",\"fd00::1\"],\"ipFamilies\":"
	    "[\"IPv4\",\"IPv6\"],\"ports\":[{\"name\":\"http\",\"port\":80},"
	    "{\"port\":53,\"protocol\":\"UDP\"}]"));

	CHECK(silent(&r));
	CHECK(is(&r, "a.n.svc.mesh.test", TYPE_A, "10.0.0.1"));
	CHECK(is(&r, "a.n.svc.mesh.test", TYPE_AAAA, "fd00::1"));
	CHECK(is(&r, "a.n.svc.mesh.test", TYPE_SRV,
	    "0 25 80 a.n.svc.mesh.test. 0 25 53 a.n.svc.mesh.test."));
	CHECK(is(&r, "_http._tcp.a.n.svc.mesh.test", TYPE_SRV,
	    "0 50 80 a.n.svc.mesh.test."));
	CHECK(is(&r, "1.0.0.10.in-addr.arpa", TYPE_PTR, "a.n.svc.mesh.test."));
	CHECK(is(&r, "dns-version.mesh.test", TYPE_TXT, "\"1.1.0\""));
	CHECK(kind_of(&r, "_tcp.a.n.svc.mesh.test") == ENTRY_EMPTY);
	CHECK(kind_of(&r, "b.n.svc.mesh.test") == ENTRY_NONE);
	CHECK(find(r.table, "a.n.svc.mesh.test").flags & NAME_OWNED);
	reading_free(&r);
}

TEST(headless_service)
{
	struct reading r = make(
	    SLICE("s", "h", "IPv4", "\"endpoints\":[" READY("10.1.0.1") ","
	    "{\"addresses\":[\"10.1.0.2\"],\"hostname\":\"Web-0\"},"
	    "{\"addresses\":[\"10.1.0.3\"],\"conditions\":{\"ready\":false}}],"
	    HTTP) SLICE("s6", "h", "IPv6", "\"endpoints\":["
	    READY("fd00::1") "],\"ports\":[]")
	    SERVICE("h", "\"clusterIP\":\"None\"," HTTP));

	CHECK(silent(&r));
	CHECK(is(&r, "h.n.svc.mesh.test", TYPE_A, "10.1.0.1 10.1.0.2"));
	CHECK(is(&r, "h.n.svc.mesh.test", TYPE_AAAA, "fd00::1"));
	CHECK(is(&r, "10-1-0-1.h.n.svc.mesh.test", TYPE_A, "10.1.0.1"));
	CHECK(is(&r, "web-0.h.n.svc.mesh.test", TYPE_A, "10.1.0.2"));
	CHECK(is(&r, "fd00--1.h.n.svc.mesh.test", TYPE_AAAA, "fd00::1"));
	CHECK(kind_of(&r, "10-1-0-3.h.n.svc.mesh.test") == ENTRY_NONE);
	CHECK(is(&r, "_http._tcp.h.n.svc.mesh.test", TYPE_SRV,
	    "0 50 80 10-1-0-1.h.n.svc.mesh.test."
	    " 0 50 80 web-0.h.n.svc.mesh.test."));
	/* Who has no hostname has no reverse name. */
	CHECK(kind_of(&r, "1.0.1.10.in-addr.arpa") == ENTRY_NONE);
	CHECK(is(&r, "2.0.1.10.in-addr.arpa", TYPE_PTR,
	    "web-0.h.n.svc.mesh.test."));
	reading_free(&r);
}

TEST(endpoints_that_are_not_ready)
{
	static const char slice[] = SLICE("s", "h", "IPv4", "\"endpoints\":"
	    "[{\"addresses\":[\"10.1.0.3\"],\"conditions\":{\"ready\":false}}]");
	char text[1000];
	struct reading r;

	(void)snprintf(text, sizeof(text), "%s%s", slice,
	    SERVICE("h", "\"clusterIP\":\"None\""));
	r = make(text);
	CHECK(silent(&r));
	CHECK(kind_of(&r, "h.n.svc.mesh.test") == ENTRY_NONE);
	reading_free(&r);
	(void)snprintf(text, sizeof(text), "%s%s", slice, SERVICE("h",
	    "\"clusterIP\":\"None\",\"publishNotReadyAddresses\":true"));
	r = make(text);
	CHECK(is(&r, "h.n.svc.mesh.test", TYPE_A, "10.1.0.3"));
	reading_free(&r);
}

/* "kubectl get endpointslices,endpoints" says everything twice. */
TEST(endpoints_beside_slices)
{
	static const char endpoints[] = OBJECT("v1", "Endpoints", "h",
	    "\"subsets\":[{\"addresses\":[{\"ip\":\"10.1.0.1\","
	    "\"hostname\":\"old\"}],\"notReadyAddresses\":"
	    "[{\"ip\":\"10.1.0.2\"}]," HTTP "}]");
	char text[1500];
	struct reading r;

	(void)snprintf(text, sizeof(text), "%s%s", endpoints,
	    SERVICE("h", "\"clusterIP\":\"None\""));
	r = make(text);
	CHECK(silent(&r));
	CHECK(is(&r, "h.n.svc.mesh.test", TYPE_A, "10.1.0.1"));
	CHECK(is(&r, "_http._tcp.h.n.svc.mesh.test", TYPE_SRV,
	    "0 100 80 old.h.n.svc.mesh.test."));
	reading_free(&r);
	(void)snprintf(text, sizeof(text), "%s%s%s", endpoints,
	    SERVICE("h", "\"clusterIP\":\"None\""), SLICE("s", "h", "IPv4",
	    "\"endpoints\":[" READY("10.1.0.1") "]," HTTP));
	r = make(text);
	CHECK(silent(&r));
	CHECK(is(&r, "_http._tcp.h.n.svc.mesh.test", TYPE_SRV,
	    "0 100 80 10-1-0-1.h.n.svc.mesh.test."));
	reading_free(&r);
}

TEST(external_name)
{
	struct reading r = make(SERVICE("e", "\"type\":\"ExternalName\","
	    "\"externalName\":\"WWW.example.com.\"," HTTP));

	CHECK(silent(&r));
	CHECK(is(&r, "e.n.svc.mesh.test", TYPE_CNAME, "www.example.com."));
	CHECK(kind_of(&r, "_http._tcp.e.n.svc.mesh.test") == ENTRY_NONE);
	reading_free(&r);
}

TEST(pods)
{
	static const char pod[] = OBJECT("v1", "Pod", "p", "\"status\":"
	    "{\"phase\":\"Running\",\"podIP\":\"10.2.0.1\",\"podIPs\":"
	    "[{\"ip\":\"10.2.0.1\"},{\"ip\":\"fd00::2\"}]}")
	    OBJECT("v1", "Pod", "q", "\"status\":{\"phase\":\"Succeeded\","
	    "\"podIP\":\"10.2.0.9\"}");
	struct reading r = make(pod);

	CHECK(silent(&r));
	CHECK(kind_of(&r, "10-2-0-1.n.pod.mesh.test") == ENTRY_NONE);
	CHECK(kind_of(&r, "pod.mesh.test") == ENTRY_EMPTY);
	reading_free(&r);
	source.pods = PODS_VERIFIED;
	r = make(pod);
	CHECK(is(&r, "10-2-0-1.n.pod.mesh.test", TYPE_A, "10.2.0.1"));
	CHECK(is(&r, "fd00--2.n.pod.mesh.test", TYPE_AAAA, "fd00::2"));
	CHECK(kind_of(&r, "10-2-0-9.n.pod.mesh.test") == ENTRY_NONE);
	CHECK(kind_of(&r, "n.pod.mesh.test") == ENTRY_EMPTY);
	reading_free(&r);
}

TEST(namespaces_that_are_shown)
{
	static const char objects[] = "{\"apiVersion\":\"v1\",\"kind\":"
	    "\"Namespace\",\"metadata\":{\"name\":\"empty\"}}"
	    SERVICE("a", "\"clusterIP\":\"10.0.0.1\"")
	    "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":"
	    "{\"name\":\"b\",\"namespace\":\"m\"},\"spec\":{\"clusterIP\":"
	    "\"10.0.0.2\"}}";
	struct reading r = make(objects);

	CHECK(kind_of(&r, "empty.svc.mesh.test") == ENTRY_EMPTY);
	CHECK(is(&r, "b.m.svc.mesh.test", TYPE_A, "10.0.0.2"));
	reading_free(&r);
	source.namespaces = (struct mesh_texts){ namespaces, 1 };
	source.ttl = 7;
	r = make(objects);
	CHECK(is(&r, "a.n.svc.mesh.test", TYPE_A, "10.0.0.1"));
	CHECK(kind_of(&r, "m.svc.mesh.test") == ENTRY_NONE);
	CHECK(kind_of(&r, "empty.svc.mesh.test") == ENTRY_NONE);
	CHECK(kind_of(&r, "2.0.0.10.in-addr.arpa") == ENTRY_NONE);
	reading_free(&r);
}

TEST(dns_service)
{
	static const char objects[] = "{\"apiVersion\":\"v1\",\"kind\":"
	    "\"Service\",\"metadata\":{\"name\":\"kube-dns\",\"namespace\":"
	    "\"kube-system\"},\"spec\":{\"clusterIP\":\"10.0.0.10\"}}"
	    SERVICE("other", "\"clusterIP\":\"10.0.0.11\"")
	    SLICE("s", "other", "IPv4", "\"endpoints\":[" READY("10.1.0.5")
	    "]");
	struct reading r;

	source.namespaces = (struct mesh_texts){ namespaces, 1 };
	r = make(objects);
	CHECK(is(&r, "mesh.test", TYPE_NS,
	    "kube-dns.kube-system.svc.mesh.test."));
	CHECK(is(&r, "kube-dns.kube-system.svc.mesh.test", TYPE_A,
	    "10.0.0.10"));
	reading_free(&r);
}

/* One bad object: what is said about it, and the rest works. */
TEST(one_bad_object_and_the_rest_works)
{
	static const struct {
		const char *object;
		const char *said;
	} bad[] = {
		{ SERVICE("a.b", "\"clusterIP\":\"10.0.0.1\""),
		  "T:2: Service n/a.b: service name \"a.b\" is not a valid label of 1"
		  " to 63 octets without a dot: ignored" },
		{ SERVICE("a", "\"clusterIPs\":[\"10.0.0.256\"]"),
		  "T:2: Service n/a: \"10.0.0.256\" is not a valid address: ignored" },
		{ SERVICE("a", "\"clusterIPs\":[\"fd00::1\"],\"ipFamilies\":"
		  "[\"IPv4\"]"), "T:2: Service n/a: address fd00::1 is none of"
		  " family IPv4: ignored" },
		{ SERVICE("a", "\"type\":\"ExternalName\",\"externalName\":"
		  "\"10.0.0.1\""), "T:2: Service n/a: externalName \"10.0.0.1\""
		  " is not a valid domain name: ignored" },
		{ SERVICE("a", "\"clusterIP\":\"10.0.0.1\",\"ports\":[{\"name\""
		  ":\"a.b\",\"port\":1}]"), "T:2: Service n/a: port name"
		  " \"a.b\" makes no label: no SRV record of that name" },
		{ SLICE("s", "nobody", "IPv4", "\"endpoints\":["
		  READY("10.1.0.1") "]"), "T:2: Service n/nobody: has endpoints"
		  " but is not among the objects: it gets only their"
		  " reverse names" },
		{ SLICE("s", "first", "IPv4", "\"endpoints\":["
		  READY("fd00::1") "]"), "T:2: EndpointSlice n/s: \"fd00::1\" is"
		  " not a valid IPv4 address: ignored" },
		{ SLICE("s", "first", "FQDN", "\"endpoints\":[]"), "T:2:"
		  " EndpointSlice n/s: addressType is \"FQDN\", expected IPv4 or"
		  " IPv6: ignored" },
		{ SLICE("s", "first", "IPv4", "\"endpoints\":[{\"addresses\":"
		  "[\"10.1.0.1\"],\"hostname\":\"a234567890123456789012345678"
		  "901234567890123456789012345678901234\"}]"), "T:2:"
		  " EndpointSlice n/s: hostname \"a234567890123456789012345678"
		  "901234567890123456789012345678901234\" is not a valid label of 1 to"
		  " 63 octets without a dot: named by its address" },
		{ OBJECT("discovery.k8s.io/v1", "EndpointSlice", "s",
		  "\"addressType\":\"IPv4\""), "T:2: EndpointSlice n/s: has no"
		  " label kubernetes.io/service-name: ignored" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[1500];
		struct reading r;

		(void)snprintf(text, sizeof(text), "%s%s%s",
		    SERVICE("first", "\"clusterIP\":\"10.0.0.8\""),
		    bad[i].object,
		    SERVICE("last", "\"clusterIP\":\"10.0.0.9\""));
		r = make(text);
		CHECK(said(&r, DIAG_WARNING, bad[i].said));
		CHECK(is(&r, "first.n.svc.mesh.test", TYPE_A, "10.0.0.8"));
		CHECK(is(&r, "last.n.svc.mesh.test", TYPE_A, "10.0.0.9"));
		reading_free(&r);
	}
}

int
main(void)
{
	source.line = 1;
	mesh.domain = name_of("mesh.test");
	mesh.zones[0].name = name_of("mesh.test");
	mesh.zones[0].unknown = ZONE_NXDOMAIN;
	return test_run();
}

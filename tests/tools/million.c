/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * million: what a table of many names costs.  Makes a source of NAMES names
 * in memory, compiles it in a child as the daemon does, maps the image and
 * looks names up: those that are there, and four kinds of those that are not,
 * in turns, so that all see the same machine; checks every answer; prints one
 * JSON object.
 *
 *   million external|kubernetes|export NAMES
 *
 * "external" is an NDS text of hosts.  "kubernetes" is one of a third as many
 * services, each of which has three names.  "export" is what kubectl prints of
 * as many services: names, short names, SRV and reverse names; and of some
 * ServiceEntries for wildcards of several depths.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "resolver/compile/compile.h"
#include "resolver/dns/rr.h"
#include "resolver/compile/source_files.h"
#include "resolver/image/table.h"

#define NAMES_MAX	10000000u
#define WILDCARDS	30
#define BATCH		1024	/* names made before they are timed */
#define BATCHES		300

/* What the source is, and how many hosts it takes for how many names. */
struct kind {
	const char *name;
	const char *format;
	bool services;
	unsigned int names_each;
};

static const struct kind kinds[] = {
	{ "external", "nds", false, 1 },
	{ "kubernetes", "nds", true, 3 },
	{ "export", "kubernetes", true, 5 },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* What is looked up. */
enum lookup {
	HIT,
	MISS,			/* a host that is not there, among those that are */
	ELSEWHERE,		/* the first label of one, in another namespace */
	PUBLIC,
	EXPANDED,		/* a public name, with a search domain behind it */
	LOOKUPS,
};

static const char *const lookup_names[LOOKUPS] = { "hit", "miss",
    "miss_elsewhere", "miss_public", "miss_expanded" };

struct measure {
	const struct kind *kind;
	uint32_t hosts;
	long source_octets;
	double compile_s;
	double compile_cpu_s;
	long compile_rss_kib;
	double map_s;
	double map_cpu_s;
	size_t names;
	size_t octets;
	double ns[LOOKUPS];
};

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "million: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double
now(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double
seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void
host_text(const struct measure *m, uint32_t host, char *text, size_t size)
{
	if (m->kind->services)
		(void)snprintf(text, size, "service-%07u.team-%03u."
		    "svc.cluster.local", host, host % 500);
	else
		(void)snprintf(text, size, "host-%07u.region-%02u.services."
		    "example.com", host, host % 40);
}

/* One entry of an NDS text. */
static void
write_entry(FILE *out, const struct kind *kind, const char *host, uint32_t n)
{
	fprintf(out, "\"%s\": {\"ips\": [\"10.%u.%u.%u\"],", host, n >> 16,
	    n >> 8 & 255, n & 255);
	if (kind->services)
		fprintf(out, " \"registry\": \"Kubernetes\","
		    " \"shortname\": \"service-%07u\","
		    " \"namespace\": \"team-%03u\"}", n, n % 500);
	else
		fputs(" \"registry\": \"External\"}", out);
}

/* One Service, with what of it kubectl prints and the mesh has no use for. */
static void
write_service(FILE *out, uint32_t n)
{
	fprintf(out, "    {\n        \"apiVersion\": \"v1\",\n"
	    "        \"kind\": \"Service\",\n        \"metadata\": {\n"
	    "            \"creationTimestamp\": \"2026-01-02T03:04:05Z\",\n"
	    "            \"labels\": { \"app\": \"service-%07u\" },\n"
	    "            \"name\": \"service-%07u\",\n"
	    "            \"namespace\": \"team-%03u\",\n"
	    "            \"resourceVersion\": \"%u\"\n        },\n", n, n,
	    n % 500, n + 1000);
	fprintf(out, "        \"spec\": {\n"
	    "            \"clusterIP\": \"10.%u.%u.%u\",\n"
	    "            \"clusterIPs\": [ \"10.%u.%u.%u\" ],\n"
	    "            \"ipFamilies\": [ \"IPv4\" ],\n"
	    "            \"ports\": [ { \"name\": \"http\", \"port\": 80,"
	    " \"protocol\": \"TCP\", \"targetPort\": 8080 } ],\n"
	    "            \"selector\": { \"app\": \"service-%07u\" },\n"
	    "            \"type\": \"ClusterIP\"\n        },\n"
	    "        \"status\": { \"loadBalancer\": {} }\n    }",
	    n >> 16, n >> 8 & 255, n & 255, n >> 16, n >> 8 & 255, n & 255, n);
}

/* A wildcard of a public name, at one of three depths. */
static void
write_wildcard(FILE *out, uint32_t n)
{
	static const char *const above[] = { "", "east.", "b.east." };

	fprintf(out, ",\n{\"apiVersion\": \"networking.istio.io/v1\","
	    " \"kind\": \"ServiceEntry\", \"metadata\": {\"name\": \"w%u\","
	    " \"namespace\": \"team-000\"}, \"spec\": {\"hosts\":"
	    " [\"*.%swild-%u.com\"], \"addresses\": [\"10.255.0.%u\"],"
	    " \"resolution\": \"STATIC\"}}", n, above[n % 3], n, n);
}

/* The text of all hosts; the nth one's address is 10.0.0.0 + n. */
static int
write_source(struct measure *m)
{
	bool objects = strcmp(m->kind->format, "kubernetes") == 0;
	int fd = memfd_create("million-source", MFD_CLOEXEC);
	FILE *out = fd >= 0 ? fdopen(dup(fd), "w") : NULL;

	if (out == NULL)
		die("memory file");
	fputs(objects ? "{\"apiVersion\": \"v1\", \"kind\": \"List\","
	    " \"items\": [\n" : "{\"table\": {\n", out);
	for (uint32_t i = 0; i < m->hosts; i++) {
		char host[100];

		host_text(m, i, host, sizeof(host));
		fputs(i > 0 ? ",\n" : "", out);
		if (objects)
			write_service(out, i);
		else
			write_entry(out, m->kind, host, i);
	}
	for (uint32_t i = 0; i < WILDCARDS && objects; i++)
		write_wildcard(out, i);
	fputs(objects ? "]}\n" : "}}\n", out);
	m->source_octets = ftell(out);
	if (fclose(out) != 0)
		die("memory file");
	return fd;
}

/* Compiles in a child, so that its memory is its own. */
static void
compile_in_child(struct measure *m, const struct mesh *mesh, int source,
    int image)
{
	double start = now(CLOCK_MONOTONIC);
	struct rusage usage;
	int status;
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (child == 0) {
		struct diag diag = DIAG_INIT;
		int error = compile(mesh, &source, image, &diag);

		for (size_t i = 0; i < diag.kept; i++)
			fprintf(stderr, "million: %s\n", diag.entries[i].text);
		_exit(error != 0 || diag.warnings > 0);
	}
	if (wait4(child, &status, 0, &usage) != child || status != 0)
		die("the compiler failed");
	m->compile_s = now(CLOCK_MONOTONIC) - start;
	m->compile_cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
	m->compile_rss_kib = usage.ru_maxrss;
}

/* A host after the other in an order that no cache foresees. */
static uint32_t
next_host(uint64_t *state, uint32_t hosts)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*state >> 32) * hosts >> 32);
}

static void
lookup_text(const struct measure *m, enum lookup lookup, uint32_t host,
    char *text, size_t size)
{
	static const char *const top[] = { "com", "net", "org", "io" };

	switch (lookup) {
	case HIT:
		host_text(m, host, text, size);
		break;
	case ELSEWHERE:
		host_text(m, host, text, size);
		/* Of "team-..." or "region-...". */
		text[sizeof("host-0000000.r") - 1 +
		    (m->kind->services ? 3 : 0)] = 'x';
		break;
	case PUBLIC:
	case EXPANDED:
		(void)snprintf(text, size, "%s.site-%05u.%s%s",
		    host % 3 != 0 ? "www" : "edge.static", host % 50000,
		    top[host % 4], lookup == PUBLIC ? "" :
		    ".default.svc.cluster.local");
		break;
	default:
		host_text(m, host + NAMES_MAX, text, size);
	}
}

static void
make_names(const struct measure *m, enum lookup lookup, uint64_t *state,
    struct dns_name *names, uint32_t *hosts)
{
	for (int i = 0; i < BATCH; i++) {
		char text[100];

		hosts[i] = next_host(state, m->hosts);
		lookup_text(m, lookup, hosts[i], text, sizeof(text));
		if (name_from_text(&names[i], text, strlen(text)) != 0)
			die("name");
	}
}

/* Whether the table says of a name what it should. */
static bool
right(const struct table *table, const struct dns_name *name,
    enum lookup lookup, uint32_t host)
{
	uint8_t wanted[4] = { 10, (uint8_t)(host >> 16), (uint8_t)(host >> 8),
	    (uint8_t)host };
	struct entry entry;
	struct rrset rrset;

	table_find(table, name, &entry);
	if (lookup != HIT)
		return entry.kind == ENTRY_NONE;
	return entry.kind == ENTRY_EXACT &&
	    table_rrset(table, entry.node, TYPE_A, &rrset) &&
	    memcmp(rrset.rdata, wanted, sizeof(wanted)) == 0;
}

/* Seconds for names[], whose addresses are read and compared. */
static double
look_up(const struct table *table, enum lookup lookup,
    const struct dns_name *names, const uint32_t *hosts)
{
	/* Not the time in which other processes had the CPU. */
	double start = now(CLOCK_THREAD_CPUTIME_ID), spent;
	bool all = true;

	for (int i = 0; i < BATCH; i++)
		all &= right(table, &names[i], lookup, hosts[i]);
	spent = now(CLOCK_THREAD_CPUTIME_ID) - start;
	if (!all) {
		errno = ENOENT;
		die(lookup_names[lookup]);
	}
	return spent;
}

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Nanoseconds for each lookup of a kind: the median batch of each kind. */
static void
look_all_up(struct measure *m, const struct table *table)
{
	struct dns_name *names = calloc(BATCH, sizeof(*names));
	uint32_t *hosts = calloc(BATCH, sizeof(*hosts));
	static double spent[LOOKUPS][BATCHES];
	uint64_t state = 88172645463325252u;

	if (names == NULL || hosts == NULL)
		die("memory");
	for (int batch = 0; batch < BATCHES; batch++) {
		for (int l = 0; l < LOOKUPS; l++) {
			make_names(m, (enum lookup)l, &state, names, hosts);
			spent[l][batch] = look_up(table, (enum lookup)l, names,
			    hosts);
		}
	}
	for (int l = 0; l < LOOKUPS; l++) {
		qsort(spent[l], BATCHES, sizeof(spent[l][0]), compare);
		m->ns[l] = spent[l][BATCHES / 2] * 1e9 / BATCH;
	}
	free(names);
	free(hosts);
}

static void
measure(struct measure *m, const struct mesh *mesh)
{
	int source = write_source(m), image;
	const char *why = "";
	struct table *table;
	double start, start_cpu;

	image = memfd_create("million-image", MFD_CLOEXEC);
	if (image < 0)
		die("memory file");
	compile_in_child(m, mesh, source, image);
	start = now(CLOCK_MONOTONIC);
	start_cpu = now(CLOCK_THREAD_CPUTIME_ID);
	if (table_open(&table, image, &why) != 0)
		die(why);
	m->map_s = now(CLOCK_MONOTONIC) - start;
	m->map_cpu_s = now(CLOCK_THREAD_CPUTIME_ID) - start_cpu;
	m->names = table_names(table);
	m->octets = table_octets(table);
	look_all_up(m, table);
	table_close(table);
	close(source);
	close(image);
}

int
main(int argc, char **argv)
{
	struct mesh_source source = { .path = (char[]){ "million.json" } };
	struct mesh mesh = { .ttl = 30,
	    .namespace = (char[]){ "default" }, .search_count = 3,
	    .sources = &source, .source_count = 1, .zone_count = 1 };
	static const char *const search[] = { "default.svc.cluster.local",
	    "svc.cluster.local", "cluster.local" };
	struct measure m = { .kind = NULL };
	unsigned long names = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	for (size_t i = 0; i < KINDS && argc == 3; i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			m.kind = &kinds[i];
	if (m.kind == NULL || names < 3 || names > NAMES_MAX) {
		fputs("usage: million external|kubernetes|export NAMES\n",
		    stderr);
		return 2;
	}
	source.format = formats_find(m.kind->format);
	m.hosts = (uint32_t)((names + m.kind->names_each - 1) /
	    m.kind->names_each);
	for (size_t i = 0; i < 3; i++) {
		if (name_from_text(&mesh.search[i], search[i],
		    strlen(search[i])) != 0)
			die("name");
	}
	mesh.domain = mesh.search[2];
	mesh.zones[0].name = mesh.domain;
	measure(&m, &mesh);
	printf("{\"names\": %zu, \"source_octets\": %ld, \"compile_s\": %.3f, \"compile_cpu_s\": %.3f,"
	    " \"compile_rss_kib\": %ld, \"map_s\": %.4f, \"map_cpu_s\": %.4f,"
	    " \"octets\": %zu", m.names, m.source_octets, m.compile_s, m.compile_cpu_s,
	    m.compile_rss_kib, m.map_s, m.map_cpu_s, m.octets);
	for (int l = 0; l < LOOKUPS; l++)
		printf(", \"%s_ns\": %.1f", lookup_names[l], m.ns[l]);
	puts("}");
	return 0;
}

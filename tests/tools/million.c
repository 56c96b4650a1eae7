/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * million: what a table of many names costs.  Makes an NDS text of NAMES
 * hosts in memory, compiles it in a child as the daemon does, maps the image
 * and looks names up; checks every answer; prints one JSON object.
 *
 *   million external|kubernetes NAMES
 *
 * "kubernetes" makes a third as many services, each of which has three names.
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

#include "resolver/compile.h"
#include "resolver/rr.h"
#include "resolver/source.h"
#include "resolver/table.h"

#define NAMES_MAX	10000000u
#define BATCH		1024	/* names made before they are timed */
#define BATCHES		500

struct measure {
	bool kubernetes;
	uint32_t hosts;
	double compile_s;
	double compile_cpu_s;
	long compile_rss_kib;
	double map_s;
	double map_cpu_s;
	size_t names;
	size_t octets;
	double hit_ns;
	double miss_ns;
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
	if (m->kubernetes)
		(void)snprintf(text, size, "service-%07u.team-%03u."
		    "svc.cluster.local", host, host % 500);
	else
		(void)snprintf(text, size, "host-%07u.region-%02u.services."
		    "example.com", host, host % 40);
}

/* The NDS text of all hosts; the nth one's address is 10.0.0.0 + n. */
static int
write_source(const struct measure *m)
{
	int fd = memfd_create("million-source", MFD_CLOEXEC);
	FILE *out = fd >= 0 ? fdopen(dup(fd), "w") : NULL;

	if (out == NULL)
		die("memory file");
	fputs("{\"table\": {\n", out);
	for (uint32_t i = 0; i < m->hosts; i++) {
		char host[100];

		host_text(m, i, host, sizeof(host));
		fprintf(out, "%s\"%s\": {\"ips\": [\"10.%u.%u.%u\"],",
		    i > 0 ? ",\n" : "", host, i >> 16, i >> 8 & 255, i & 255);
		if (m->kubernetes)
			fprintf(out, " \"registry\": \"Kubernetes\","
			    " \"shortname\": \"service-%07u\","
			    " \"namespace\": \"team-%03u\"}", i, i % 500);
		else
			fputs(" \"registry\": \"External\"}", out);
	}
	fputs("}}\n", out);
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
make_names(const struct measure *m, uint64_t *state, bool known,
    struct dns_name *names, uint32_t *hosts)
{
	for (int i = 0; i < BATCH; i++) {
		char text[100];

		hosts[i] = next_host(state, m->hosts);
		host_text(m, hosts[i] + (known ? 0 : NAMES_MAX), text,
		    sizeof(text));
		if (name_from_text(&names[i], text, strlen(text)) != 0)
			die("name");
	}
}

/* Whether the table says of a name what it should. */
static bool
right(const struct table *table, const struct dns_name *name, bool known,
    uint32_t host)
{
	uint8_t wanted[4] = { 10, (uint8_t)(host >> 16), (uint8_t)(host >> 8),
	    (uint8_t)host };
	struct entry entry;
	struct rrset rrset;

	table_find(table, name, &entry);
	if (!known)
		return entry.kind == ENTRY_NONE;
	return entry.kind == ENTRY_EXACT &&
	    table_rrset(table, entry.node, TYPE_A, &rrset) &&
	    memcmp(rrset.rdata, wanted, sizeof(wanted)) == 0;
}

/* Nanoseconds a lookup, its address read and compared. */
static double
look_up(const struct measure *m, const struct table *table, bool known)
{
	struct dns_name *names = calloc(BATCH, sizeof(*names));
	uint32_t *hosts = calloc(BATCH, sizeof(*hosts));
	uint64_t state = 88172645463325252u;
	double spent = 0;

	if (names == NULL || hosts == NULL)
		die("memory");
	for (int batch = 0; batch < BATCHES; batch++) {
		bool all = true;
		double start;

		make_names(m, &state, known, names, hosts);
		/* Not the time in which other processes had the CPU. */
		start = now(CLOCK_THREAD_CPUTIME_ID);
		for (int i = 0; i < BATCH; i++)
			all &= right(table, &names[i], known, hosts[i]);
		spent += now(CLOCK_THREAD_CPUTIME_ID) - start;
		if (!all) {
			errno = ENOENT;
			die("a lookup");
		}
	}
	free(names);
	free(hosts);
	return spent * 1e9 / ((double)BATCH * BATCHES);
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
	m->hit_ns = look_up(m, table, true);
	m->miss_ns = look_up(m, table, false);
	table_close(table);
	close(source);
	close(image);
}

int
main(int argc, char **argv)
{
	struct mesh_source source = { .format = source_format_find("nds"),
	    .path = (char[]){ "million.json" } };
	struct mesh mesh = { .ttl = 30, .udp_size = 1232,
	    .namespace = (char[]){ "default" }, .search_count = 3,
	    .sources = &source, .source_count = 1, .zone_count = 1 };
	static const char *const search[] = { "default.svc.cluster.local",
	    "svc.cluster.local", "cluster.local" };
	struct measure m = { .kubernetes = argc == 3 &&
	    strcmp(argv[1], "kubernetes") == 0 };
	unsigned long names = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (names < 3 || names > NAMES_MAX) {
		fputs("usage: million external|kubernetes NAMES\n", stderr);
		return 2;
	}
	m.hosts = (uint32_t)(m.kubernetes ? (names + 2) / 3 : names);
	for (size_t i = 0; i < 3; i++) {
		if (name_from_text(&mesh.search[i], search[i],
		    strlen(search[i])) != 0)
			die("name");
	}
	mesh.domain = mesh.search[2];
	mesh.zones[0].name = mesh.domain;
	measure(&m, &mesh);
	printf("{\"names\": %zu, \"compile_s\": %.3f, \"compile_cpu_s\": %.3f,"
	    " \"compile_rss_kib\": %ld, \"map_s\": %.4f, \"map_cpu_s\": %.4f,"
	    " \"octets\": %zu, \"hit_ns\": %.1f,"
	    " \"miss_ns\": %.1f}\n", m.names, m.compile_s, m.compile_cpu_s,
	    m.compile_rss_kib, m.map_s, m.map_cpu_s, m.octets, m.hit_ns, m.miss_ns);
	return 0;
}

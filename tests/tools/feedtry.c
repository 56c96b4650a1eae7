/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feedtry: the xDS feed without the program around it.
 *
 *   feedtry [-pv] [-a ADDRESS] [-r ROOT] [-c CERT -k KEY] [-t TOKEN] [-l LIMIT]
 *       [-x PREFIX] HOST:PORT
 *
 * Prints a line for each table ("table VERSION OCTETS HASH"), report and change
 * of status.  -x refuses tables that begin with these octets, -p is plaintext,
 * -v prints debugging reports too.  Ends when standard input does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "resolver/feed/text.h"
#include "resolver/feed/xds.h"
#include "tests/feed_host.h"

static struct feed_status status;
static const char *refused;
static bool verbose;
static XXH64_hash_t last;

static enum feed_verdict
offer(void *arg, const struct feed_table *table, char why[FEED_TEXT])
{
	const void *octets = table->parts->iov_base;	/* all of it */
	XXH64_hash_t hash = XXH3_64bits(octets, table->length);
	bool same = hash == last;

	(void)arg;
	if (refused != NULL && table->length >= strlen(refused) &&
	    memcmp(octets, refused, strlen(refused)) == 0) {
		(void)snprintf(why, FEED_TEXT, "it begins with %s", refused);
		printf("refused %s\n", table->version);
		return FEED_REFUSED;
	}
	last = hash;
	printf("table %s %zu %016llx%s\n", table->version, table->length,
	    (unsigned long long)hash, same ? " same" : "");
	return same ? FEED_SAME : FEED_APPLIED;
}

static void
changed(void *arg)
{
	static bool connected;

	(void)arg;
	if (connected != status.connected)
		printf("connected %d\n", status.connected);
	connected = status.connected;
}

static void
report(void *arg, enum feed_level level, const char *text)
{
	(void)arg;
	if (level != FEED_DEBUG || verbose)
		printf("%s: %s\n", feed_levels[level], text);
}

static int
usage(void)
{
	fputs("usage: feedtry [-pv] [-a ADDRESS] [-r ROOT] [-c CERT -k KEY] "
	    "[-t TOKEN] [-l LIMIT] [-x PREFIX] HOST:PORT\n", stderr);
	return 2;
}

/* False: wrong usage. */
static bool
parse(int argc, char **argv, struct feed_config *config, char **address)
{
	int option;

	while ((option = getopt(argc, argv, "pva:r:c:k:t:l:x:")) != -1) {
		switch (option) {
		case 'p':
			config->plaintext = true;
			break;
		case 'v':
			verbose = true;
			break;
		case 'a':
			*address = optarg;
			config->addresses = address;
			config->address_count = 1;
			break;
		case 'r':
			config->root_cert = optarg;
			break;
		case 'c':
			config->cert = optarg;
			break;
		case 'k':
			config->key = optarg;
			break;
		case 't':
			config->token = optarg;
			break;
		case 'l':
			config->limit = strtoull(optarg, NULL, 10);
			break;
		case 'x':
			refused = optarg;
			break;
		default:
			return false;
		}
	}
	config->server = argv[optind];
	return argc == optind + 1;
}

static void
summary(void)
{
	printf("pushes %llu same %llu nacks %llu attempts %llu",
	    (unsigned long long)status.pushes, (unsigned long long)status.same,
	    (unsigned long long)status.nacks,
	    (unsigned long long)status.attempts);
	for (int i = 0; i < FEED_CAUSES; i++)
		printf(" %s %llu", feed_cause_name((enum feed_cause)i),
		    (unsigned long long)status.reconnects[i]);
	printf("\n");
}

int
main(int argc, char **argv)
{
	static char namespace[] = "shop", cluster[] = "Kubernetes", name[] = "try";
	struct feed_config config = { .name = name, .type = FEED_XDS,
		.node = { .namespace = namespace, .cluster = cluster } };
	const struct feed_host host = { .stop_fd = STDIN_FILENO,
		.status = &status, .is_sound = feed_is_sound, .tick = feed_tick,
		.offer = offer, .changed = changed,
		.report = report };
	char *address;
	int error;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!parse(argc, argv, &config, &address))
		return usage();
	error = xds_run(&config, &host);
	summary();
	if (error != 0)
		fprintf(stderr, "feedtry: %s\n", strerror(-error));
	return error != 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kubefeed: the Kubernetes feed without the process around it.
 *
 *   kubefeed KUBECONFIG TABLE [pods] [limit=OCTETS] [NAMESPACE...]
 *
 * KUBECONFIG "-" is a pod's.  Each table is written to TABLE by rename.  Prints
 * what a host is told, a line each.  Ends when stdin does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolver/feed/feed.h"
#include "tests/feed_host.h"
#include "tests/parts.h"

/* A table as one text. */
struct text {
	char *octets;
	size_t length;
};

struct tool {
	const char *path;
	struct text kept;
	struct feed_status status;
	unsigned int offers;
};

static bool
is_same(const struct text *a, const struct text *b)
{
	return a->octets != NULL && a->length == b->length &&
	    memcmp(a->octets, b->octets, a->length) == 0;
}

static void
keep(struct text *to, struct text *from)
{
	free(to->octets);
	*to = *from;
	from->octets = NULL;
}

static bool
write_table(const char *path, const struct text *table)
{
	char temporary[4096];
	FILE *file;
	bool good;

	(void)snprintf(temporary, sizeof(temporary), "%s.new", path);
	file = fopen(temporary, "w");
	if (file == NULL)
		return false;
	good = fwrite(table->octets, 1, table->length, file) == table->length;
	good = fclose(file) == 0 && good;
	return good && rename(temporary, path) == 0;
}

static enum feed_verdict
judge(struct tool *tool, struct text *table, char why[static FEED_TEXT])
{
	if (is_same(&tool->kept, table))
		return FEED_SAME;
	if (!write_table(tool->path, table)) {
		(void)snprintf(why, FEED_TEXT, "it cannot be written");
		return FEED_FAILED;
	}
	keep(&tool->kept, table);
	return FEED_APPLIED;
}

static enum feed_verdict
offer(void *arg, const struct feed_table *table, char why[FEED_TEXT])
{
	static const char *const names[] = { "applied", "same",
		"refused", "failed" };
	struct tool *tool = arg;
	struct text text;
	enum feed_verdict verdict;

	text.octets = parts_join(table->parts, table->part_count,
	    &text.length);
	verdict = judge(tool, &text, why);
	free(text.octets);
	printf("offer %u %s %zu %s %s\n", ++tool->offers, names[verdict],
	    table->length, table->format, table->version);
	return verdict;
}

static void
changed(void *arg)
{
	const struct feed_status *s = &((struct tool *)arg)->status;

	printf("status connected=%d attempts=%llu pushes=%llu", s->connected,
	    (unsigned long long)s->attempts, (unsigned long long)s->pushes);
	for (int i = 0; i < FEED_CAUSES; i++)
		printf("%s%llu", i == 0 ? " reconnects=" : ",",
		    (unsigned long long)s->reconnects[i]);
	printf(" cert=%lld peer=[%s] error=[%s]\n", (long long)s->cert_end,
	    s->peer, s->error);
}

static void
report(void *arg, enum feed_level level, const char *text)
{
	(void)arg;
	printf("report %s %s\n", feed_levels[level], text);
}

int
main(int argc, char **argv)
{
	struct tool tool = { .path = argc > 2 ? argv[2] : NULL };
	struct feed_config config = { .type = FEED_KUBERNETES,
	    .limit = (uint64_t)256 << 20 };
	const struct feed_host host = { .arg = &tool, .stop_fd = STDIN_FILENO,
	    .status = &tool.status, .tick = feed_tick,
	    .offer = offer, .changed = changed,
	    .report = report };
	int i = 3, error;

	if (argc < 3) {
		fputs("usage: kubefeed KUBECONFIG TABLE [pods]"
		    " [limit=OCTETS] [NAMESPACE...]\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	config.kubeconfig = strcmp(argv[1], "-") == 0 ? NULL : argv[1];
	config.pods = i < argc && strcmp(argv[i], "pods") == 0;
	i += config.pods;
	if (i < argc && strncmp(argv[i], "limit=", 6) == 0)
		config.limit = strtoull(argv[i++] + 6, NULL, 10);
	config.namespaces = argv + i;
	config.namespace_count = (size_t)(argc - i);
	error = kubernetes_run(&config, &host);
	free(tool.kept.octets);
	if (error != 0)
		fprintf(stderr, "kubefeed: %s\n", strerror(-error));
	return error != 0;
}

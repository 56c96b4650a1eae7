/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/explain/shadows.h"

#include <stdlib.h>
#include <unistd.h>

#include "nfq/process/compiler.h"

struct shadows {
	const struct config *config;
	bool compiled, failed;
	struct table **tables;		/* of each source, alone */
};

struct shadows *
shadows_new(const struct config *config)
{
	struct shadows *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->config = config;
	s->tables = calloc(config->mesh.source_count + 1,
	    sizeof(*s->tables));
	if (s->tables == NULL) {
		free(s);
		return NULL;
	}
	return s;
}

void
shadows_free(struct shadows *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->config->mesh.source_count; i++)
		table_close(s->tables[i]);
	free(s->tables);
	free(s);
}

/* Compiles one source as if it were the only one. */
static struct table *
compile_alone(const struct config *config, size_t i)
{
	struct config alone = *config;
	struct table *table = NULL;
	struct diag diag = DIAG_INIT;
	const char *why;
	int fd;

	alone.mesh.sources = &config->mesh.sources[i];
	alone.mesh.source_count = 1;
	fd = compiler_run(&alone, &diag);
	diag_free(&diag);
	if (fd < 0)
		return NULL;
	if (table_open(&table, fd, &why) != 0)
		table = NULL;
	(void)close(fd);
	return table;
}

static void
compile_all(struct shadows *s)
{
	for (size_t i = 0; i < s->config->mesh.source_count; i++) {
		s->tables[i] = compile_alone(s->config, i);
		s->failed |= s->tables[i] == NULL;
	}
	s->compiled = true;
}

/* Whether the name is there in that way, and where. */
static bool
find_place(const struct table *table, const struct dns_name *name,
    enum entry_kind kind, struct shadow *place)
{
	unsigned int source;
	struct entry entry;

	table_find(table, name, &entry);
	if (entry.kind != kind || entry.node == 0)
		return false;
	table_origin(table, entry.node, &source, &place->line);
	place->path = table_source(table, source, &place->path_length);
	return place->path != NULL;
}

bool
shadows_find(struct shadows *s, const struct dns_name *name,
    enum entry_kind kind, struct shadow *found, size_t most, size_t *count)
{
	bool first = true;

	*count = 0;
	if (s->config->mesh.source_count < 2)
		return true;
	if (!s->compiled)
		compile_all(s);
	for (size_t i = 0; i < s->config->mesh.source_count && *count < most;
	    i++) {
		struct shadow place;

		if (s->tables[i] == NULL || !find_place(s->tables[i], name,
		    kind, &place))
			continue;
		if (!first)
			found[(*count)++] = place;
		first = false;
	}
	return !s->failed;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tests of source formats share: a text read into a table. */
#ifndef NFDNS_TESTS_SOURCE_H
#define NFDNS_TESTS_SOURCE_H

#include "resolver/text/diag.h"
#include "resolver/compile/source_files.h"
#include "tests/image.h"

/* One text, what was said about it, and what came of it. */
struct reading {
	struct diag diag;
	struct table *table;
};

/* Reads length octets from memory of exactly that size. */
static inline struct reading
read_octets(const char *format, const struct mesh *mesh, const char *octets,
    size_t length)
{
	struct reading reading = { .diag = DIAG_INIT };
	char *copy = malloc(length + (length == 0));
	struct source_text text = { .path = "T", .data = copy,
	    .length = length, .mesh = mesh };
	struct builder *b = builder_new(mesh);

	MUST(b != NULL && copy != NULL);
	memcpy(copy, octets, length);
	MUST(formats_find(format)->read(&text, b, &reading.diag) == 0);
	reading.table = table_of(b);
	builder_free(b);
	free(copy);
	return reading;
}

static inline struct reading
read_text(const char *format, const struct mesh *mesh, const char *text)
{
	return read_octets(format, mesh, text, strlen(text));
}

static inline void
reading_free(struct reading *reading)
{
	diag_free(&reading->diag);
	table_close(reading->table);
}

/* Whether the only thing said is this. */
static inline bool
said(const struct reading *reading, enum diag_level level, const char *text)
{
	bool same = reading->diag.errors + reading->diag.warnings == 1 &&
	    reading->diag.entries[0].level == level &&
	    strcmp(reading->diag.entries[0].text, text) == 0;

	for (size_t i = 0; !same && i < reading->diag.kept; i++)
		printf("  said: %s\n", reading->diag.entries[i].text);
	return same;
}

static inline bool
silent(const struct reading *reading)
{
	for (size_t i = 0; i < reading->diag.kept; i++)
		printf("  said: %s\n", reading->diag.entries[i].text);
	return reading->diag.errors + reading->diag.warnings == 0;
}

#endif

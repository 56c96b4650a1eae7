/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What fuzz targets of source formats share: a mesh, and what must hold. */
#ifndef NFDNS_TESTS_FUZZ_SOURCE_H
#define NFDNS_TESTS_FUZZ_SOURCE_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "resolver/image/builder.h"
#include "resolver/sources/source_format.h"
#include "resolver/image/table.h"
#include "tests/fuzz/fuzz.h"

/* A mesh that owns its domain. */
static inline void
fuzz_mesh(struct mesh *mesh)
{
	static char namespace[] = "own";

	*mesh = (struct mesh){ .ttl = 30,
	    .namespace = namespace, .zone_count = 1 };
	check(name_from_text(&mesh->domain, "mesh.test", 9) == 0);
	mesh->zones[0].name = mesh->domain;
	mesh->zones[0].unknown = ZONE_NXDOMAIN;
}

/* Few errors, of one line each. */
static inline void
fuzz_check_diag(const struct diag *diag, size_t errors)
{
	check(diag->errors <= errors);
	for (size_t i = 0; i < diag->kept; i++)
		check(strchr(diag->entries[i].text, '\n') == NULL);
}

/* An image that opens and has as many names. */
static inline void
fuzz_check_image(const struct builder *b, int fd)
{
	struct table *table;
	const char *why;

	check(table_open(&table, fd, &why) == 0);
	check(table_names(table) == builder_names(b));
	table_close(table);
}

/* Whatever was read makes a sound image; frees all. */
static inline void
fuzz_finish(struct builder *b, struct diag *diag, size_t errors)
{
	int fd = memfd_create("fuzz-source", MFD_CLOEXEC);

	fuzz_check_diag(diag, errors);
	check(fd >= 0 && builder_write(b, fd) == 0);
	fuzz_check_image(b, fd);
	close(fd);
	builder_free(b);
	diag_free(diag);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as a binary NDS table: one error at most, and a sound image. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "resolver/builder.h"
#include "resolver/source.h"
#include "resolver/table.h"
#include "tests/fuzz/fuzz.h"

static void
check(bool right)
{
	if (!right)
		abort();
}

static void
try_image(struct builder *b)
{
	int fd = memfd_create("fuzz-nds-proto", MFD_CLOEXEC);
	struct table *table;
	const char *why;

	check(fd >= 0 && builder_write(b, fd) == 0);
	check(table_open(&table, fd, &why) == 0);
	check(table_names(table) == builder_names(b));
	table_close(table);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mesh mesh = { .ttl = 30, .udp_size = 1232,
	    .namespace = (char[]){ "own" } };
	struct source_text text = { .path = "fuzz.pb",
	    .data = (const char *)data, .length = size, .mesh = &mesh };
	struct diag diag = DIAG_INIT;
	struct builder *b;

	check(name_from_text(&mesh.domain, "mesh.test", 9) == 0);
	b = builder_new(&mesh);
	check(b != NULL && source_nds_proto_read(&text, b, &diag) == 0);
	for (size_t i = 0; i < diag.kept; i++)
		check(strchr(diag.entries[i].text, '\n') == NULL);
	check(diag.errors <= 1);
	try_image(b);
	builder_free(b);
	diag_free(&diag);
	return 0;
}

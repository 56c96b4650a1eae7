/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as a zone file: errors of one line, and always a sound image. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "resolver/builder.h"
#include "resolver/chain.h"
#include "resolver/source.h"
#include "resolver/table.h"
#include "tests/fuzz/fuzz.h"

/*
 * ldns up to 1.8 forgets parts of some records that it cannot read.  The
 * process that does it lives no longer than one compilation.
 */
const char *__lsan_default_suppressions(void);

const char *
__lsan_default_suppressions(void)
{
	return "leak:libldns";
}

static void
check(bool right)
{
	if (!right)
		abort();
}

/* As the compiler does: written again if CNAMEs were left out. */
static void
try_image(struct builder *b, struct diag *diag)
{
	int fd = memfd_create("fuzz-zone", MFD_CLOEXEC), faults;
	struct table *table;
	const char *why;

	check(fd >= 0 && builder_write(b, fd) == 0);
	faults = chain_drop_faulty(b, fd, diag);
	check(faults >= 0);
	if (faults > 0) {
		check(builder_write(b, fd) == 0);
		check(chain_drop_faulty(b, fd, diag) == 0);
	}
	check(table_open(&table, fd, &why) == 0);
	check(table_names(table) == builder_names(b));
	table_close(table);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mesh mesh = { .ttl = 30, .udp_size = 1232, .zone_count = 1 };
	/* Nobody answers at this socket: what is included cannot be had. */
	static const int broker = -1;
	struct mesh_source source = { .path = (char[]){ "fuzz.zone" },
	    .origin = (char[]){ "mesh.test" } };
	struct source_text text = { .path = source.path,
	    .data = (const char *)data, .length = size, .mesh = &mesh,
	    .source = &source, .broker = &broker };
	struct diag diag = DIAG_INIT;
	struct builder *b;

	mesh.sources = &source;
	mesh.source_count = 1;
	check(name_from_text(&mesh.domain, "mesh.test", 9) == 0);
	mesh.zones[0].name = mesh.domain;
	mesh.zones[0].unknown = ZONE_NXDOMAIN;
	b = builder_new(&mesh);
	check(b != NULL && source_zone_read(&text, b, &diag) == 0);
	check(diag.errors <= 1);
	try_image(b, &diag);
	for (size_t i = 0; i < diag.kept; i++)
		check(strchr(diag.entries[i].text, '\n') == NULL);
	builder_free(b);
	diag_free(&diag);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as a zone file: errors of one line, and always a sound image. */
#include "resolver/compile/compile.h"
#include "tests/fuzz/source.h"

/* As the compiler does: written again if CNAMEs were left out. */
static void
try_image(struct builder *b, struct diag *diag)
{
	int fd = memfd_create("fuzz-zone", MFD_CLOEXEC), faults;

	check(fd >= 0 && builder_write(b, fd) == 0);
	faults = cname_check_drop_faulty(b, fd, diag);
	check(faults >= 0);
	if (faults > 0) {
		check(builder_write(b, fd) == 0);
		check(cname_check_drop_faulty(b, fd, diag) == 0);
	}
	fuzz_check_image(b, fd);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mesh mesh;
	/* Nobody answers at this socket: what is included cannot be had. */
	static const int broker = -1;
	struct mesh_source source = { .path = (char[]){ "fuzz.zone" },
	    .origin = (char[]){ "mesh.test" } };
	struct source_text text = { .path = source.path,
	    .data = (const char *)data, .length = size, .mesh = &mesh,
	    .source = &source, .broker = &broker };
	struct diag diag = DIAG_INIT;
	struct builder *b;

	fuzz_mesh(&mesh);
	mesh.sources = &source;
	mesh.source_count = 1;
	b = builder_new(&mesh);
	check(b != NULL && source_zone_read(&text, b, &diag) == 0);
	try_image(b, &diag);
	fuzz_check_diag(&diag, 1);
	builder_free(b);
	diag_free(&diag);
	return 0;
}

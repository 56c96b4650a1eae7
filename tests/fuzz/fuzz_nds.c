/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as an NDS table: errors of one line, and always a sound image. */
#include "tests/fuzz/source.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mesh mesh;
	struct source_text text = { .path = "fuzz.json",
	    .data = (const char *)data, .length = size, .mesh = &mesh };
	struct diag diag = DIAG_INIT;
	struct builder *b;

	fuzz_mesh(&mesh);
	b = builder_new(&mesh);
	check(b != NULL && source_nds_read(&text, b, &diag) == 0);
	fuzz_finish(b, &diag, 1);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a configuration that a table is added to: what is taken out
 * again leaves the text as it was.
 */
#include <string.h>

#include "nfq/cli/join/edit.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct edit edit = { .text = NULL };
	const bool marked = memmem(text, size, "nfdns join", 10) != NULL;

	check(edit_start(&edit, text, size) == 0);
	if (edit_add_item(&edit, "mesh", "tables", "{ a = 1; }", "m") == 0 &&
	    !marked) {
		check(edit_remove(&edit, "m") == 1);
		/* A last line may have been given its end. */
		check(edit.length >= size && edit.length <= size + 1);
		check(memcmp(edit.text, text, size) == 0);
	}
	check(edit_remove(&edit, "m") <= 2 || marked);
	edit_free(&edit);
	return 0;
}

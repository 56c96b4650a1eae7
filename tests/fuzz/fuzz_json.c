/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as one JSON value: what jansson takes, json_scan.h walks to the same
 * end.  And any octets as a text that is written, which jansson reads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/text/json_tree.h"
#include "resolver/text/json_write.h"
#include "tests/fuzz/fuzz.h"

static void
write_text(const char *octets, size_t size, bool ascii)
{
	char *json = NULL;
	size_t length = 0;
	struct json_write w = { .out = open_memstream(&json, &length),
	    .ascii = ascii };
	json_t *text;

	json_write_octets(&w, NULL, octets, size);
	check(json_write_end(&w) == 0 && fclose(w.out) == 0);
	text = json_loadb(json, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	check(json_is_string(text));
	for (size_t i = 0; ascii && i < length; i++)
		check((unsigned char)json[i] < 0x80);
	json_decref(text);
	free(json);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct json_tree tree = JSON_TREE_INIT;
	const struct json_range range = { .text = (const char *)data,
	    .length = size, .line = 1 };
	struct json_scan scan = json_scan_over(range.text, size);
	struct json_range value;
	const char *why = NULL;
	unsigned int line = 0;
	bool walked;
	int error;

	if (size == 0)
		return 0;
	write_text(range.text, size, data[0] % 2 == 0);
	walked = json_scan_value(&scan, &value) && json_scan_end(&scan);
	if (json_tree_take(&tree, &range, &error, &why, &line) != NULL)
		check(walked || scan.depth == JSON_SCAN_MAX_DEPTH);
	else
		check(error == -EINVAL && line != 0 && why != NULL);
	json_tree_free(&tree);
	return 0;
}

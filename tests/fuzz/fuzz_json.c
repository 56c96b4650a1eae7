/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as one JSON value, beside jansson: both take the same texts, but
 * for the limits of each, and see the same in them.  And any octets as a text
 * that is written, which jansson reads.
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/text/json_tree.h"
#include "resolver/text/json_write.h"
#include "tests/fuzz/fuzz.h"

static void
compare_number(const struct json_node *ours, const json_t *other)
{
	long long number;

	check(ours->integer == json_is_integer(other));
	if (json_tree_integer(ours, LLONG_MIN, LLONG_MAX, &number))
		check(number == json_integer_value(other));
}

/* Recursion ends at JSON_SCAN_MAX_DEPTH. */
static void
compare(const struct json_node *ours, const json_t *other)
{
	static const json_type types[] = { JSON_NULL, JSON_FALSE, JSON_TRUE,
	    JSON_REAL, JSON_STRING, JSON_ARRAY, JSON_OBJECT };
	size_t count = 0;

	check(json_typeof(other) == types[ours->kind] ||
	    json_is_integer(other));
	if (ours->kind == JSON_KIND_NUMBER)
		compare_number(ours, other);
	if (ours->kind == JSON_KIND_STRING)
		check(strcmp(ours->text, json_string_value(other)) == 0);
	for (const struct json_node *n = ours->first; n != NULL; n = n->next)
		compare(n, ours->kind == JSON_KIND_OBJECT ?
		    json_object_get(other, n->key) :
		    json_array_get(other, count++));
}

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
	static struct json_tree tree;
	const struct json_range range = { .text = (const char *)data,
	    .length = size, .line = 1 };
	const char *why = NULL;
	unsigned int line = 0;
	json_error_t fault;
	int error;
	const struct json_node *ours;
	json_t *other;

	if (size == 0)
		return 0;
	write_text((const char *)data, size, data[0] % 2 == 0);
	ours = json_tree_take(&tree, &range, &error, &why, &line);
	other = json_loadb((const char *)data, size,
	    JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &fault);
	check((ours == NULL) == (error == -EINVAL));
	check(ours != NULL || (line != 0 && why != NULL));
	/* jansson skips NULs between values. */
	if (ours == NULL)
		check(other == NULL || strncmp(why, "more than ", 10) == 0 ||
		    memchr(data, '\0', size) != NULL);
	else if (other == NULL)
		check(json_error_code(&fault) == json_error_numeric_overflow);
	else
		compare(ours, other);
	json_decref(other);
	return 0;
}

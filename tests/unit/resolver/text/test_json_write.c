/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is written is JSON, whatever the texts are. */
#include "resolver/text/json_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/text/json_tree.h"
#include "tests/check.h"

/* What one text becomes, without the line end; to be freed. */
static char *
written(const char *text, size_t length, bool ascii)
{
	char *json = NULL;
	size_t size = 0;
	struct json_write w = { .out = open_memstream(&json, &size),
	    .ascii = ascii };

	json_write_octets(&w, NULL, text, length);
	CHECK(json_write_end(&w) == 0 && fclose(w.out) == 0);
	CHECK(json[size - 1] == '\n');
	json[size - 1] = '\0';
	return json;
}

TEST(texts_are_escaped)
{
	static const struct {
		const char *text, *json, *ascii;
	} rows[] = {
		{ "", "\"\"", NULL },
		{ "plain ~", "\"plain ~\"", NULL },
		{ "a\"b\\c/", "\"a\\\"b\\\\c/\"", NULL },
		{ "\b\t\n\f\r", "\"\\b\\t\\n\\f\\r\"", NULL },
		{ "\x01\x1f\x7f", "\"\\u0001\\u001F\x7f\"", NULL },
		{ "\xc3\xa4\xe2\x82\xac", "\"\xc3\xa4\xe2\x82\xac\"",
		  "\"\\u00E4\\u20AC\"" },
		{ "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"",
		  "\"\\uD83D\\uDE00\"" },
		/* Cut off, overlong, half of a pair, nothing at all. */
		{ "a\xc3", "\"a?\"", NULL },
		{ "\xc0\xafx", "\"??x\"", NULL },
		{ "\xed\xa0\x80", "\"???\"", NULL },
		{ "\xff\xc3\xa4", "\"?\xc3\xa4\"", "\"?\\u00E4\"" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int ascii = 0; ascii < 2; ascii++) {
			char *json = written(rows[i].text,
			    strlen(rows[i].text), ascii);

			CHECK(strcmp(json, ascii && rows[i].ascii != NULL ?
			    rows[i].ascii : rows[i].json) == 0);
			free(json);
		}
}

/* Any octets make a text that the house's reader takes. */
TEST(any_octets_can_be_read_back)
{
	char octets[64];

	srandom(3);
	for (int i = 0; i < 2000; i++) {
		const size_t length = (size_t)random() % sizeof(octets);
		struct json_tree tree = JSON_TREE_INIT;
		struct json_range range = { .line = 1 };
		const json_t *node;
		const char *why;
		unsigned int line;
		char *json;
		int error;

		for (size_t j = 0; j < length; j++)
			octets[j] = (char)(random() % 255 + 1);
		json = written(octets, length, i % 2);
		range.text = json;
		range.length = strlen(json);
		node = json_tree_take(&tree, &range, &error, &why, &line);
		CHECK(node != NULL && json_string_value(node) != NULL);
		for (const char *c = json; i % 2 && *c != '\0'; c++)
			CHECK(*c >= ' ' && (unsigned char)*c < 0x80);
		json_tree_free(&tree);
		free(json);
	}
}

TEST(values_have_commas_between_them)
{
	char *json = NULL;
	size_t size = 0;
	struct json_write w = { .out = open_memstream(&json, &size) };

	json_write_open(&w, NULL, '{');
	json_write_open(&w, "none", '[');
	json_write_close(&w, ']');
	json_write_open(&w, "list", '[');
	for (int i = 0; i < 2; i++) {
		json_write_open(&w, NULL, '{');
		json_write_integer(&w, "i", -i);
		json_write_close(&w, '}');
	}
	json_write_number(&w, NULL, UINT64_MAX);
	json_write_close(&w, ']');
	json_write_bool(&w, "b", true);
	json_write_text(&w, "k\"", NULL);
	json_write_hex(&w, "hex", (const uint8_t *)"\x0f\xa0", 2);
	json_write_real(&w, "whole", 2);
	json_write_real(&w, "part", 0.5);
	json_write_close(&w, '}');
	CHECK(json_write_end(&w) == 0);
	/* The next line. */
	json_write_open(&w, NULL, '[');
	json_write_close(&w, ']');
	CHECK(json_write_end(&w) == 0 && fclose(w.out) == 0);
	CHECK(strcmp(json, "{\"none\":[],\"list\":[{\"i\":0},{\"i\":-1},"
	    "9223372036854775807],\"b\":true,\"k\\\"\":null,\"hex\":\"0fa0\","
	    "\"whole\":2.0,\"part\":0.5}\n[]\n") == 0);
	free(json);
}

TEST(an_error_is_kept_until_the_end)
{
	struct json_write w = { .out = fopen("/dev/full", "w") };

	CHECK(w.out != NULL);
	(void)setvbuf(w.out, NULL, _IONBF, 0);
	json_write_text(&w, NULL, "x");
	CHECK(json_write_end(&w) == -EIO);
	w.error = -ENOMEM;
	CHECK(json_write_end(&w) == -ENOMEM);
	(void)fclose(w.out);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/yaml_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static struct yaml_tree tree = YAML_TREE_INIT;
static const char *why;
static unsigned int line;

/* Reads the text from memory of exactly its size. */
static int
read_octets(const char *text, size_t length)
{
	char *copy = malloc(length + (length == 0));
	int error;

	memcpy(copy, text, length);
	yaml_tree_free(&tree);
	error = yaml_tree_read(&tree, copy, length, &why, &line);
	free(copy);
	return error;
}

static int
read_text(const char *text)
{
	return read_octets(text, strlen(text));
}

static const char *
string_of(const char *key)
{
	const char *text = yaml_tree_string(yaml_tree_member(&tree, yaml_tree_root(&tree), key));

	return text != NULL ? text : "(none)";
}

TEST(texts)
{
	CHECK(read_text("a: one\nb: 'it''s'\nc: \"t\\tz\"\nd: |\n  x\n  y\n"
	    "e:\nf: ~\ng: null\nh: ''\ni: \"null\"\n") == 0);
	CHECK(strcmp(string_of("a"), "one") == 0);
	CHECK(strcmp(string_of("b"), "it's") == 0);
	CHECK(strcmp(string_of("c"), "t\tz") == 0);
	CHECK(strcmp(string_of("d"), "x\ny\n") == 0);
	CHECK(strcmp(string_of("e"), "(none)") == 0);
	CHECK(strcmp(string_of("f"), "(none)") == 0);
	CHECK(strcmp(string_of("g"), "(none)") == 0);
	CHECK(strcmp(string_of("h"), "") == 0);
	CHECK(strcmp(string_of("i"), "null") == 0);
	CHECK(strcmp(string_of("z"), "(none)") == 0);
	CHECK(yaml_tree_line(yaml_tree_member(&tree, yaml_tree_root(&tree),
	    "d")) == 4);
}

TEST(trees)
{
	yaml_node_t *root, *list, *item;
	const char *key;

	CHECK(read_text("list:\n- name: a\n  in: {x: 1, y: [2, 3]}\n- b\n"
	    "empty: []\nanchor: &x 1\nalias: *x\n") == 0);
	root = yaml_tree_root(&tree);
	list = yaml_tree_member(&tree, root, "list");
	item = yaml_tree_item(&tree, list, 0, &key);
	CHECK(strcmp(yaml_tree_string(yaml_tree_member(&tree, item, "name")),
	    "a") == 0);
	CHECK(strcmp(yaml_tree_string(yaml_tree_item(&tree, yaml_tree_member(
	    &tree, yaml_tree_member(&tree, item, "in"), "y"), 1, &key)), "3")
	    == 0);
	item = yaml_tree_item(&tree, list, 1, &key);
	CHECK(strcmp(yaml_tree_string(item), "b") == 0 && key == NULL);
	CHECK(yaml_tree_line(item) == 4);
	CHECK(yaml_tree_item(&tree, list, 2, &key) == NULL);
	CHECK(yaml_tree_item(&tree, yaml_tree_member(&tree, root, "empty"), 0,
	    &key) == NULL);
	CHECK(yaml_tree_item(&tree, root, 1, &key) != NULL &&
	    strcmp(key, "empty") == 0);
	CHECK(strcmp(string_of("alias"), "1") == 0);
	CHECK(yaml_tree_string(root) == NULL && yaml_tree_string(NULL) == NULL);
	CHECK(yaml_tree_member(&tree, NULL, "x") == NULL);
}

TEST(json_is_yaml)
{
	CHECK(read_text("{\"apiVersion\": \"v1\", \"users\": [{\"name\": \"u\"}]"
	    "}") == 0);
	CHECK(strcmp(string_of("apiVersion"), "v1") == 0);
}

TEST(booleans)
{
	bool value = false;

	CHECK(read_text("a: true\nb: False\nc: 'true'\nd: yes\n") == 0);
	CHECK(yaml_tree_bool(yaml_tree_member(&tree, yaml_tree_root(&tree), "a"), &value) &&
	    value);
	CHECK(yaml_tree_bool(yaml_tree_member(&tree, yaml_tree_root(&tree), "b"), &value) &&
	    !value);
	CHECK(!yaml_tree_bool(yaml_tree_member(&tree, yaml_tree_root(&tree), "c"), &value));
	CHECK(!yaml_tree_bool(yaml_tree_member(&tree, yaml_tree_root(&tree), "d"), &value));
	CHECK(!yaml_tree_bool(NULL, &value));
}

TEST(empty_files)
{
	CHECK(read_text("") == 0 && yaml_tree_root(&tree) == NULL);
	CHECK(read_text("# nothing\n") == 0 && yaml_tree_root(&tree) == NULL);
	CHECK(read_text("---\n") == 0 && yaml_tree_string(yaml_tree_root(&tree)) == NULL);
}

/* Refused with that word in the reason, at that line. */
static bool
refused(const char *text, const char *word, unsigned int at)
{
	bool right = read_text(text) == -EINVAL && strstr(why, word) != NULL &&
	    line == at && !tree.loaded;

	if (!right)
		printf("  %u: %s\n", line, why);
	return right;
}

TEST(what_is_refused)
{
	CHECK(refused("a: *x\n", "YAML", 1));
	CHECK(refused("a: 1\n---\nb: 2\n", "second document", 3));
	CHECK(refused("a: b: c\n", "YAML", 1));
	CHECK(refused("a: [1\nb: 2\n", "YAML", 2));
	CHECK(refused("\xff\xfe\xff", "YAML", 1));
	CHECK(read_octets("a: \0", 4) == -EINVAL);
	CHECK(read_text("a: \"x\\0y\"\n? [b]\n: 2\n") == 0);
	CHECK(strcmp(string_of("a"), "(none)") == 0);
}

TEST(bounds)
{
	size_t length = YAML_TREE_MAX_LENGTH + 1;
	char *text = malloc(length);

	memset(text, '#', length);
	CHECK(read_octets(text, length - 1) == 0);
	CHECK(read_octets(text, length) == -EINVAL);
	/* Deep, wide: refused or read, within moments. */
	memset(text, '[', length - 1);
	CHECK(read_octets(text, length - 1) == -EINVAL &&
	    strstr(why, "brackets") != NULL);
	CHECK(read_octets(text, YAML_TREE_MAX_BRACKETS) == -EINVAL &&
	    strstr(why, "YAML") != NULL);
	for (size_t i = 0; i + 4 < length; i += 4)
		memcpy(text + i, "- a\n", 4);
	CHECK(read_octets(text, length / 4 * 4) == 0);
	free(text);
}

int
main(void)
{
	test_run();
	yaml_tree_free(&tree);
	return test_summary();
}

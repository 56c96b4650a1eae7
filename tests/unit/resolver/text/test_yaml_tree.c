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
	const char *text = yaml_tree_string(yaml_tree_member(tree.root, key));

	return text != NULL ? text : "(none)";
}

static void
texts(void)
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
	CHECK(yaml_tree_member(tree.root, "d")->line == 4);
}

static void
trees(void)
{
	const struct yaml_node *item;

	CHECK(read_text("list:\n- name: a\n  in: {x: 1, y: [2, 3]}\n- b\n"
	    "empty: []\n") == 0);
	item = yaml_tree_items(yaml_tree_member(tree.root, "list"));
	CHECK(strcmp(yaml_tree_string(yaml_tree_member(item, "name")), "a") ==
	    0);
	CHECK(strcmp(yaml_tree_string(yaml_tree_items(yaml_tree_member(
	    yaml_tree_member(item, "in"), "y"))->next), "3") == 0);
	CHECK(strcmp(yaml_tree_string(item->next), "b") == 0);
	CHECK(item->next->next == NULL && item->next->line == 4);
	CHECK(yaml_tree_items(yaml_tree_member(tree.root, "empty")) == NULL);
	CHECK(yaml_tree_items(tree.root) == NULL);
	CHECK(yaml_tree_string(tree.root) == NULL);
	CHECK(yaml_tree_member(NULL, "x") == NULL);
	CHECK(yaml_tree_string(NULL) == NULL);
}

static void
json_is_yaml(void)
{
	CHECK(read_text("{\"apiVersion\": \"v1\", \"users\": [{\"name\": \"u\"}]"
	    "}") == 0);
	CHECK(strcmp(string_of("apiVersion"), "v1") == 0);
}

static void
booleans(void)
{
	bool value = false;

	CHECK(read_text("a: true\nb: False\nc: 'true'\nd: yes\n") == 0);
	CHECK(yaml_tree_bool(yaml_tree_member(tree.root, "a"), &value) &&
	    value);
	CHECK(yaml_tree_bool(yaml_tree_member(tree.root, "b"), &value) &&
	    !value);
	CHECK(!yaml_tree_bool(yaml_tree_member(tree.root, "c"), &value));
	CHECK(!yaml_tree_bool(yaml_tree_member(tree.root, "d"), &value));
	CHECK(!yaml_tree_bool(NULL, &value));
}

static void
empty_files(void)
{
	CHECK(read_text("") == 0 && tree.root == NULL);
	CHECK(read_text("# nothing\n") == 0 && tree.root == NULL);
	CHECK(read_text("---\n") == 0 && yaml_tree_string(tree.root) == NULL);
}

/* Refused with that word in the reason, at that line. */
static bool
refused(const char *text, const char *word, unsigned int at)
{
	bool right = read_text(text) == -EINVAL && strstr(why, word) != NULL &&
	    line == at && tree.root == NULL && tree.blocks == NULL;

	if (!right)
		printf("  %u: %s\n", line, why);
	return right;
}

static void
what_is_refused(void)
{
	CHECK(refused("a: 1\nb: &x 2\n", "anchors", 2));
	CHECK(refused("a: *x\n", "alias", 1));
	CHECK(refused("a: 1\n\nb: !!int 2\n", "tags", 3));
	CHECK(refused("a: 1\n---\nb: 2\n", "second document", 2));
	CHECK(refused("a: 1\nb: 2\na: 3\n", "second time", 3));
	CHECK(refused("? [a]\n: 2\n", "key", 1));
	CHECK(refused("a: \"x\\0y\"\n", "NUL", 1));
	CHECK(refused("a: b: c\n", "YAML", 1));
	CHECK(refused("a: [1\nb: 2\n", "YAML", 2));
	CHECK(refused("\xff\xfe\xff", "YAML", 1));
	CHECK(read_octets("a: \0", 4) == -EINVAL);
}

static void
bounds(void)
{
	size_t length = YAML_TREE_MAX_LENGTH + 1;
	char *text = malloc(length);
	size_t used = 0;

	memset(text, '#', length);
	CHECK(read_octets(text, length - 1) == 0);
	CHECK(read_octets(text, length) == -EINVAL);
	memset(text, '[', 33);
	memset(text + 33, ']', 33);
	CHECK(read_octets(text, 66) == -EINVAL && strstr(why, "nesting"));
	CHECK(read_octets(text + 1, 64) == 0);
	for (int i = 0; i <= YAML_TREE_MAX_NODES; i++) {
		memcpy(text + used, "- a\n", 4);
		used += 4;
	}
	CHECK(read_octets(text, used) == -EINVAL && strstr(why, "values"));
	CHECK(read_octets(text, used - 8) == 0);
	free(text);
}

int
main(void)
{
	TEST(texts);
	TEST(trees);
	TEST(json_is_yaml);
	TEST(booleans);
	TEST(empty_files);
	TEST(what_is_refused);
	TEST(bounds);
	yaml_tree_free(&tree);
	return test_summary();
}

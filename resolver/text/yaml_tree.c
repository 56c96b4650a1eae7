/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/yaml_tree.h"

#include <errno.h>
#include <string.h>

static int
fail(const yaml_parser_t *parser, const char **why, unsigned int *line)
{
	if (parser->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	*why = "not valid YAML";
	*line = (unsigned int)parser->problem_mark.line + 1;
	return -EINVAL;
}

/* One document, and that there is no other. */
static int
load(yaml_parser_t *parser, struct yaml_tree *tree, const char **why,
    unsigned int *line)
{
	yaml_document_t second;
	yaml_node_t *root;

	if (yaml_parser_load(parser, &tree->document) == 0)
		return fail(parser, why, line);
	tree->loaded = true;
	if (yaml_tree_root(tree) == NULL)
		return 0;
	if (yaml_parser_load(parser, &second) == 0)
		return fail(parser, why, line);
	root = yaml_document_get_root_node(&second);
	if (root != NULL) {
		*why = "a second document";
		*line = yaml_tree_line(root);
	}
	yaml_document_delete(&second);
	return root != NULL ? -EINVAL : 0;
}

/* The time of libyaml grows with the square of the brackets that are open. */
static bool
has_many_brackets(const char *text, size_t length)
{
	size_t brackets = 0;

	for (size_t i = 0; i < length; i++)
		brackets += text[i] == '[' || text[i] == '{';
	return brackets > YAML_TREE_MAX_BRACKETS;
}

int
yaml_tree_read(struct yaml_tree *tree, const char *text, size_t length,
    const char **why, unsigned int *line)
{
	yaml_parser_t parser;
	int error;

	*why = "";
	*line = 0;
	*tree = (struct yaml_tree)YAML_TREE_INIT;
	if (length > YAML_TREE_MAX_LENGTH) {
		*why = "longer than 1 MiB";
		return -EINVAL;
	}
	if (has_many_brackets(text, length)) {
		*why = "more lists and mappings in brackets than such a file "
		    "may have";
		return -EINVAL;
	}
	if (yaml_parser_initialize(&parser) == 0)
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text,
	    length);
	error = load(&parser, tree, why, line);
	yaml_parser_delete(&parser);
	if (error != 0)
		yaml_tree_free(tree);
	return error;
}

void
yaml_tree_free(struct yaml_tree *tree)
{
	const yaml_document_t *document = &tree->document;

	if (!tree->loaded)
		return;
	for (yaml_node_t *node = document->nodes.start;
	    node < document->nodes.top; node++)
		if (node->type == YAML_SCALAR_NODE)
			explicit_bzero(node->data.scalar.value,
			    node->data.scalar.length);
	yaml_document_delete(&tree->document);
	tree->loaded = false;
}

yaml_node_t *
yaml_tree_root(struct yaml_tree *tree)
{
	return tree->loaded ? yaml_document_get_root_node(&tree->document) :
	    NULL;
}

/* A scalar's octets, if no NUL is among them. */
static const char *
scalar(const yaml_node_t *node)
{
	const char *text;

	if (node == NULL || node->type != YAML_SCALAR_NODE)
		return NULL;
	text = (const char *)node->data.scalar.value;
	return strlen(text) == node->data.scalar.length ? text : NULL;
}

yaml_node_t *
yaml_tree_item(struct yaml_tree *tree, const yaml_node_t *node, size_t i,
    const char **key)
{
	const yaml_node_pair_t *pair;

	*key = NULL;
	if (node != NULL && node->type == YAML_SEQUENCE_NODE &&
	    i < (size_t)(node->data.sequence.items.top -
	    node->data.sequence.items.start))
		return yaml_document_get_node(&tree->document,
		    node->data.sequence.items.start[i]);
	if (node == NULL || node->type != YAML_MAPPING_NODE ||
	    i >= (size_t)(node->data.mapping.pairs.top -
	    node->data.mapping.pairs.start))
		return NULL;
	pair = &node->data.mapping.pairs.start[i];
	*key = scalar(yaml_document_get_node(&tree->document, pair->key));
	return yaml_document_get_node(&tree->document, pair->value);
}

yaml_node_t *
yaml_tree_member(struct yaml_tree *tree, const yaml_node_t *map,
    const char *key)
{
	yaml_node_t *value;
	const char *here;

	for (size_t i = 0; (value = yaml_tree_item(tree, map, i, &here)) !=
	    NULL; i++)
		if (here != NULL && strcmp(here, key) == 0)
			return value;
	return NULL;
}

/* Whether it is one of these words, without quotes. */
static bool
is_word(const yaml_node_t *node, const char *const words[], size_t count)
{
	const char *text = scalar(node);

	for (size_t i = 0; text != NULL && i < count; i++)
		if (strcmp(text, words[i]) == 0)
			return node->data.scalar.style ==
			    YAML_PLAIN_SCALAR_STYLE;
	return false;
}

const char *
yaml_tree_string(const yaml_node_t *node)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };

	return is_word(node, nulls, sizeof(nulls) / sizeof(nulls[0])) ? NULL :
	    scalar(node);
}

bool
yaml_tree_bool(const yaml_node_t *node, bool *value)
{
	static const char *const no[] = { "false", "False", "FALSE" };
	static const char *const yes[] = { "true", "True", "TRUE" };

	*value = is_word(node, yes, 3);
	return *value || is_word(node, no, 3);
}

unsigned int
yaml_tree_line(const yaml_node_t *node)
{
	return (unsigned int)node->start_mark.line + 1;
}

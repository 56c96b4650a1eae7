/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libyaml yields events; each scalar, list and mapping becomes a node.  The
 * depth is limited before anything recurses, the number of nodes and the
 * length of the text before memory is taken.
 */
#include "resolver/text/yaml_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* A node, and room for its key and its text. */
struct yaml_block {
	struct yaml_block *next;
	size_t size;			/* of the octets */
	struct yaml_node node;
	char octets[];
};

struct reading {
	yaml_parser_t parser;
	struct yaml_tree *tree;
	int error;			/* sticky */
	const char *why;
	unsigned int line;
	unsigned int depth;
};

static void
fail(struct reading *r, int error, const char *why, size_t line)
{
	if (r->error != 0)
		return;
	r->error = error;
	r->why = why;
	r->line = (unsigned int)line + 1;
}

/* The next event; after a failure one of no type. */
static bool
next_event(struct reading *r, yaml_event_t *event)
{
	memset(event, 0, sizeof(*event));
	if (r->error != 0)
		return false;
	if (yaml_parser_parse(&r->parser, event) != 0)
		return true;
	if (r->parser.error == YAML_MEMORY_ERROR)
		fail(r, -ENOMEM, "", 0);
	else
		fail(r, -EINVAL, "not valid YAML", r->parser.problem_mark.line);
	return false;
}

/* A node of that event; text and key are copied, either may be NULL. */
static struct yaml_node *
new_node(struct reading *r, const yaml_event_t *event, const char *key,
    const char *text)
{
	size_t key_size = key != NULL ? strlen(key) + 1 : 0;
	size_t text_size = text != NULL ? strlen(text) + 1 : 0;
	struct yaml_block *block;

	if (r->tree->nodes == YAML_TREE_MAX_NODES) {
		fail(r, -EINVAL, "more values than such a file may have",
		    event->start_mark.line);
		return NULL;
	}
	block = calloc(1, sizeof(*block) + key_size + text_size);
	if (block == NULL) {
		fail(r, -ENOMEM, "", 0);
		return NULL;
	}
	block->next = r->tree->blocks;
	block->size = key_size + text_size;
	r->tree->blocks = block;
	r->tree->nodes++;
	block->node.line = (unsigned int)event->start_mark.line + 1;
	if (key != NULL)
		block->node.key = memcpy(block->octets, key, key_size);
	if (text != NULL)
		block->node.text = memcpy(block->octets + key_size, text,
		    text_size);
	return &block->node;
}

/* Whether the event is one that begins a value of the kinds known here. */
static bool
is_value(struct reading *r, const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;
	size_t line = event->start_mark.line;

	switch (event->type) {
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		break;
	case YAML_ALIAS_EVENT:
		fail(r, -EINVAL, "aliases (*) are not read here", line);
		return false;
	default:
		fail(r, -EINVAL, "expected a value", line);
		return false;
	}
	if (anchor != NULL)
		fail(r, -EINVAL, "anchors (&) are not read here", line);
	if (tag != NULL)
		fail(r, -EINVAL, "tags (!) are not read here", line);
	return r->error == 0;
}

/* The scalar's text; NULL and a failure if there is a NUL in it. */
static const char *
scalar_text(struct reading *r, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;

	if (strlen(text) == event->data.scalar.length)
		return text;
	fail(r, -EINVAL, "NUL in a text", event->start_mark.line);
	return NULL;
}

static struct yaml_node *take_value(struct reading *r,
    const yaml_event_t *event, const char *key);

/* Whether the mapping has that key already: the second one is a mistake. */
static bool
is_repeated(const struct yaml_node *map, const char *key)
{
	return yaml_tree_member(map, key) != NULL;
}

/* The value behind a key; the key's event stays the caller's. */
static struct yaml_node *
take_member(struct reading *r, struct yaml_node *map, const yaml_event_t *key)
{
	struct yaml_node *node = NULL;
	yaml_event_t event;
	const char *text;

	if (!is_value(r, key))
		return NULL;
	if (key->type != YAML_SCALAR_EVENT) {
		fail(r, -EINVAL, "a key must be a text", key->start_mark.line);
		return NULL;
	}
	text = scalar_text(r, key);
	if (text != NULL && is_repeated(map, text))
		fail(r, -EINVAL, "a key for the second time in one mapping",
		    key->start_mark.line);
	if (text != NULL && next_event(r, &event)) {
		node = take_value(r, &event, text);
		yaml_event_delete(&event);
	}
	return node;
}

/* What is in a list or mapping whose first event was taken. */
static void
take_parts(struct reading *r, struct yaml_node *node)
{
	const yaml_event_type_t last = node->kind == YAML_KIND_LIST ?
	    YAML_SEQUENCE_END_EVENT : YAML_MAPPING_END_EVENT;
	const struct yaml_node **link = &node->first;
	struct yaml_node *part;
	yaml_event_t event;

	while (next_event(r, &event)) {
		bool end = event.type == last;

		part = NULL;
		if (!end && node->kind == YAML_KIND_LIST)
			part = take_value(r, &event, NULL);
		else if (!end)
			part = take_member(r, node, &event);
		yaml_event_delete(&event);
		if (part == NULL)
			return;
		*link = part;
		link = &part->next;
	}
}

/* Recursion ends at YAML_TREE_MAX_DEPTH. */
static struct yaml_node *
take_value(struct reading *r, const yaml_event_t *event, const char *key)
{
	const char *text = NULL;
	struct yaml_node *node;

	if (!is_value(r, event))
		return NULL;
	if (event->type == YAML_SCALAR_EVENT) {
		text = scalar_text(r, event);
		if (text == NULL)
			return NULL;
	}
	node = new_node(r, event, key, text);
	if (node == NULL)
		return NULL;
	if (text != NULL) {
		node->kind = YAML_KIND_TEXT;
		node->plain = event->data.scalar.style ==
		    YAML_PLAIN_SCALAR_STYLE;
		return node;
	}
	node->kind = event->type == YAML_SEQUENCE_START_EVENT ?
	    YAML_KIND_LIST : YAML_KIND_MAP;
	if (++r->depth > YAML_TREE_MAX_DEPTH) {
		fail(r, -EINVAL, "more than 32 levels of nesting",
		    event->start_mark.line);
		return NULL;
	}
	take_parts(r, node);
	r->depth--;
	return r->error == 0 ? node : NULL;
}

/* The file's one document, and that there is no other. */
static void
take_document(struct reading *r)
{
	yaml_event_t event;
	bool started = false;

	while (next_event(r, &event)) {
		yaml_event_type_t type = event.type;

		if (type == YAML_DOCUMENT_START_EVENT && started)
			fail(r, -EINVAL, "a second document",
			    event.start_mark.line);
		else if (type == YAML_DOCUMENT_START_EVENT)
			started = true;
		else if (type != YAML_STREAM_START_EVENT &&
		    type != YAML_STREAM_END_EVENT &&
		    type != YAML_DOCUMENT_END_EVENT)
			r->tree->root = take_value(r, &event, NULL);
		yaml_event_delete(&event);
		if (type == YAML_STREAM_END_EVENT)
			return;
	}
}

int
yaml_tree_read(struct yaml_tree *tree, const char *text, size_t length,
    const char **why, unsigned int *line)
{
	struct reading r = { .tree = tree };

	*why = "";
	*line = 0;
	*tree = (struct yaml_tree)YAML_TREE_INIT;
	if (length > YAML_TREE_MAX_LENGTH) {
		*why = "longer than 1 MiB";
		return -EINVAL;
	}
	if (yaml_parser_initialize(&r.parser) == 0)
		return -ENOMEM;
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text,
	    length);
	take_document(&r);
	yaml_parser_delete(&r.parser);
	if (r.error == 0)
		return 0;
	*why = r.why;
	*line = r.line;
	yaml_tree_free(tree);
	return r.error;
}

void
yaml_tree_free(struct yaml_tree *tree)
{
	struct yaml_block *next;

	for (struct yaml_block *b = tree->blocks; b != NULL; b = next) {
		next = b->next;
		explicit_bzero(b->octets, b->size);
		free(b);
	}
	*tree = (struct yaml_tree)YAML_TREE_INIT;
}

const struct yaml_node *
yaml_tree_member(const struct yaml_node *map, const char *key)
{
	const struct yaml_node *member;

	if (map == NULL || map->kind != YAML_KIND_MAP)
		return NULL;
	for (member = map->first; member != NULL; member = member->next) {
		if (strcmp(member->key, key) == 0)
			return member;
	}
	return NULL;
}

const char *
yaml_tree_string(const struct yaml_node *node)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };

	if (node == NULL || node->kind != YAML_KIND_TEXT)
		return NULL;
	for (size_t i = 0; node->plain &&
	    i < sizeof(nulls) / sizeof(nulls[0]); i++) {
		if (strcmp(node->text, nulls[i]) == 0)
			return NULL;
	}
	return node->text;
}

const struct yaml_node *
yaml_tree_items(const struct yaml_node *list)
{
	return list != NULL && list->kind == YAML_KIND_LIST ? list->first :
	    NULL;
}

bool
yaml_tree_bool(const struct yaml_node *node, bool *value)
{
	static const char *const words[2][3] = {
		{ "false", "False", "FALSE" },
		{ "true", "True", "TRUE" },
	};

	if (node == NULL || node->kind != YAML_KIND_TEXT || !node->plain)
		return false;
	for (size_t i = 0; i < 6; i++) {
		if (strcmp(node->text, words[i / 3][i % 3]) == 0) {
			*value = i >= 3;
			return true;
		}
	}
	return false;
}

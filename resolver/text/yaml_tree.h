/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small YAML file (kubeconfig, mesh.yaml) as a tree.  What such files have no
 * use for is an error with a line, not a surprise: anchors and aliases (which
 * make a few lines a gigabyte), tags, a second document, keys that are no plain
 * text, a key twice in one mapping, NUL.
 */
#ifndef NFDNS_RESOLVER_TEXT_YAML_TREE_H
#define NFDNS_RESOLVER_TEXT_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>

#define YAML_TREE_MAX_LENGTH	((size_t)1 << 20)	/* octets of the file */
#define YAML_TREE_MAX_DEPTH	32
#define YAML_TREE_MAX_NODES	10000

enum yaml_kind {
	YAML_KIND_TEXT,
	YAML_KIND_LIST,
	YAML_KIND_MAP,
};

/* Good until the tree is freed. */
struct yaml_node {
	enum yaml_kind kind;
	bool plain;			/* a text without quotes */
	unsigned int line;		/* from 1 */
	const char *key;		/* of a mapping's member; else NULL */
	const char *text;		/* without NUL inside; NULL: no text */
	const struct yaml_node *first;	/* of a list's or mapping's own */
	const struct yaml_node *next;	/* in the same list or mapping */
};

/* Start from YAML_TREE_INIT; owns its memory. */
struct yaml_tree {
	const struct yaml_node *root;	/* NULL: an empty file */
	struct yaml_block *blocks;
	size_t nodes;
};

#define YAML_TREE_INIT { .root = NULL }

/*
 * Reads the text, which is borrowed for the call.  Returns 0; or -ENOMEM, or
 * -EINVAL with *why a static text and *line where (0: the whole file).
 */
int yaml_tree_read(struct yaml_tree *tree, const char *text, size_t length,
    const char **why, unsigned int *line) __attribute__((warn_unused_result));

/* Overwrites it, since it may hold a key.  NULL inside is fine. */
void yaml_tree_free(struct yaml_tree *tree);

/* All of these allow NULL for a node that is not there. */
const struct yaml_node *yaml_tree_member(const struct yaml_node *map,
    const char *key);

/* The text; NULL for everything else, also for null, ~ and nothing. */
const char *yaml_tree_string(const struct yaml_node *node);

/* The first item of a list; NULL if there is none or it is no list. */
const struct yaml_node *yaml_tree_items(const struct yaml_node *list);

/* Whether it is true or false (YAML 1.2 core schema); then *value is set. */
bool yaml_tree_bool(const struct yaml_node *node, bool *value);

#endif

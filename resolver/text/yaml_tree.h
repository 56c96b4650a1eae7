/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small YAML file (kubeconfig, mesh.yaml) as libyaml's document. */
#ifndef NFDNS_RESOLVER_TEXT_YAML_TREE_H
#define NFDNS_RESOLVER_TEXT_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#define YAML_TREE_MAX_LENGTH	((size_t)1 << 20)	/* octets of the file */
#define YAML_TREE_MAX_BRACKETS	10000

/* Start from YAML_TREE_INIT; owns its memory. */
struct yaml_tree {
	yaml_document_t document;
	bool loaded;
};

#define YAML_TREE_INIT { .loaded = false }

/*
 * Reads the text, which is borrowed for the call.  Returns 0; or -ENOMEM, or
 * -EINVAL with *why a static text and *line where (0: the whole file).
 */
int yaml_tree_read(struct yaml_tree *tree, const char *text, size_t length,
    const char **why, unsigned int *line) __attribute__((warn_unused_result));

/* Overwrites the texts, since one may be a key. */
void yaml_tree_free(struct yaml_tree *tree);

/*
 * Nodes are good until the tree is freed.  All of these allow NULL for a node that
 * is not there.
 */
yaml_node_t *yaml_tree_root(struct yaml_tree *tree);	/* NULL: an empty file */

/* The value of that key in a mapping, the first if there are several. */
yaml_node_t *yaml_tree_member(struct yaml_tree *tree, const yaml_node_t *map,
    const char *key);

/*
 * Item number i, from 0, of a list, or the value of that member of a mapping, whose
 * *key is NULL if it is no text; NULL behind the last one.
 */
yaml_node_t *yaml_tree_item(struct yaml_tree *tree, const yaml_node_t *node,
    size_t i, const char **key);

/* The text; NULL for everything else, also for null, ~, nothing, and with a NUL. */
const char *yaml_tree_string(const yaml_node_t *node);

/* Whether it is true or false (YAML 1.2 core schema); then *value is set. */
bool yaml_tree_bool(const yaml_node_t *node, bool *value);

/* From 1. */
unsigned int yaml_tree_line(const yaml_node_t *node);

#endif

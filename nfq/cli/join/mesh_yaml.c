/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "nfq/cli/join/plan.h"
#include "resolver/text/yaml_tree.h"

/* A text, with or without quotes; "" for null.  NULL after an error. */
static const char *
text_of(const struct env *env, const char *key, const yaml_node_t *node,
    struct diag *diag)
{
	const char *text;

	if (node->type != YAML_SCALAR_NODE) {
		diag_add(diag, DIAG_ERROR, env->path, yaml_tree_line(node),
		    "%s is not a text", key);
		return NULL;
	}
	text = yaml_tree_string(node);
	if (text == NULL)
		return "";
	if (strlen(text) < ENV_MAX_VALUE)
		return text;
	diag_add(diag, DIAG_ERROR, env->path, yaml_tree_line(node),
	    "%s is too long", key);
	return NULL;
}

/* A mapping, if it is there; whether its members can be looked at. */
static bool
is_map(const struct env *env, const char *name, const yaml_node_t *node,
    struct diag *diag)
{
	if (node == NULL || node->type == YAML_MAPPING_NODE)
		return node != NULL;
	diag_add(diag, DIAG_ERROR, env->path, yaml_tree_line(node),
	    "%s is not a mapping", name);
	return false;
}

static void
add_text(struct env *env, const char *name, const char *key,
    const yaml_node_t *node, struct diag *diag)
{
	const char *text = text_of(env, name, node, diag);

	if (text == NULL)
		return;
	if (strlen(key) > ENV_MAX_KEY)
		diag_add(diag, DIAG_ERROR, env->path, yaml_tree_line(node),
		    "the name of a variable is too long");
	else if (!env_add(env, key, text, yaml_tree_line(node), diag))
		return;
}

static void
take(struct env *env, struct yaml_tree *tree, struct diag *diag)
{
	const yaml_node_t *root = yaml_tree_root(tree), *config, *node;
	const yaml_node_t *metadata;
	const char *key;

	if (root != NULL && !is_map(env, "this file", root, diag))
		return;
	config = yaml_tree_member(tree, root, "defaultConfig");
	if (config == NULL)
		diag_add(diag, DIAG_ERROR, env->path, 0, "has no "
		    "\"defaultConfig\"; is it what istioctl wrote?");
	if (!is_map(env, "defaultConfig", config, diag))
		return;
	node = yaml_tree_member(tree, config, "discoveryAddress");
	if (node != NULL)
		add_text(env, "discoveryAddress", MESH_YAML_SERVER, node, diag);
	metadata = yaml_tree_member(tree, config, "proxyMetadata");
	if (!is_map(env, "proxyMetadata", metadata, diag))
		return;
	for (size_t i = 0; (node = yaml_tree_item(tree, metadata, i, &key)) !=
	    NULL; i++)
		if (key != NULL)
			add_text(env, key, key, node, diag);
}

void
mesh_yaml_read(struct env *env, const char *text, size_t length,
    struct diag *diag)
{
	struct yaml_tree tree = YAML_TREE_INIT;
	const char *why = NULL;
	unsigned int line = 0;
	int error = yaml_tree_read(&tree, text, length, &why, &line);

	if (error == 0)
		take(env, &tree, diag);
	else
		diag_add(diag, DIAG_ERROR, env->path, line, "%s",
		    error == -ENOMEM ? "out of memory" : why);
	yaml_tree_free(&tree);
}

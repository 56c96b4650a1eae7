/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "nfq/cli/join/env.h"
#include "resolver/text/yaml_tree.h"

/* A text, with or without quotes; "" for null.  NULL after an error. */
static const char *
text_of(const struct env *env, const struct yaml_node *node, struct diag *diag)
{
	const char *text;

	if (node->kind != YAML_KIND_TEXT) {
		diag_add(diag, DIAG_ERROR, env->path, node->line,
		    "%s is not a text", node->key);
		return NULL;
	}
	text = yaml_tree_string(node);
	if (text == NULL)
		return "";
	if (strlen(text) < ENV_MAX_VALUE)
		return text;
	diag_add(diag, DIAG_ERROR, env->path, node->line, "%s is too long",
	    node->key);
	return NULL;
}

/* A mapping, if it is there; whether its members can be looked at. */
static bool
is_map(const struct env *env, const struct yaml_node *node, struct diag *diag)
{
	if (node == NULL || node->kind == YAML_KIND_MAP)
		return node != NULL;
	diag_add(diag, DIAG_ERROR, env->path, node->line,
	    "%s is not a mapping", node->key != NULL ? node->key : "this file");
	return false;
}

static void
add_text(struct env *env, const char *key, const struct yaml_node *node,
    struct diag *diag)
{
	const char *text = text_of(env, node, diag);

	if (text == NULL)
		return;
	if (strlen(key) > ENV_MAX_KEY)
		diag_add(diag, DIAG_ERROR, env->path, node->line,
		    "the name of a variable is too long");
	else if (!env_add(env, key, text, node->line, diag))
		return;
}

static void
take(struct env *env, const struct yaml_node *root, struct diag *diag)
{
	const struct yaml_node *config, *server, *metadata;

	if (root != NULL && !is_map(env, root, diag))
		return;
	config = yaml_tree_member(root, "defaultConfig");
	if (config == NULL)
		diag_add(diag, DIAG_ERROR, env->path, 0, "has no "
		    "\"defaultConfig\"; is it what istioctl wrote?");
	if (!is_map(env, config, diag))
		return;
	server = yaml_tree_member(config, "discoveryAddress");
	if (server != NULL)
		add_text(env, MESH_YAML_SERVER, server, diag);
	metadata = yaml_tree_member(config, "proxyMetadata");
	if (!is_map(env, metadata, diag))
		return;
	for (const struct yaml_node *node = metadata->first; node != NULL;
	    node = node->next)
		add_text(env, node->key, node, diag);
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
		take(env, tree.root, diag);
	else
		diag_add(diag, DIAG_ERROR, env->path, line, "%s",
		    why != NULL ? why : "out of memory");
	yaml_tree_free(&tree);
}

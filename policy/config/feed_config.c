/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/feed_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/config/feed_value.h"
#include "policy/config/file.h"
#include "resolver/text/given.h"

static void
free_texts(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

static void
free_feed(struct feed_config *feed)
{
	feed_node_free(&feed->node);
	free_texts(feed->addresses, feed->address_count);
	free_texts(feed->namespaces, feed->namespace_count);
	free(feed->name);
	free(feed->server);
	free(feed->root_cert);
	free(feed->cert);
	free(feed->key);
	free(feed->token);
	free(feed->kubeconfig);
}

void
feed_config_free(struct feeds_config *config)
{
	if (config == NULL)
		return;
	for (size_t i = 0; i < config->feed_count; i++)
		free_feed(&config->feeds[i]);
	free(config->feeds);
	free(config->state_dir);
	free(config->run_dir);
	free(config);
}

int
feed_config_parse_all(struct feeds_config **config, struct config_text *texts,
    size_t count, struct diag *diag)
{
	struct config_load load = { .diag = diag, .file = texts[0].path,
		.path = texts[0].absolute, .options = feed_options,
		.option_count = feed_option_count };
	struct feeds_config *c = load.base = calloc(1, sizeof(*c));
	bool fine = false;

	if (c == NULL)
		diag_add(diag, DIAG_ERROR, load.file, 0, "out of memory");
	else
		fine = config_file_parse(&load, texts, count);
	config_texts_free(texts, count);
	if (!fine) {
		feed_config_free(c);
		return -EINVAL;
	}
	*config = c;
	return 0;
}

int
feed_config_parse(struct feeds_config **config, const char *path,
    const char *text, size_t length, struct diag *diag)
{
	struct config_text *texts = NULL;
	size_t count = 0;

	*config = NULL;
	if (config_texts_add(&texts, &count, path, text, length, diag) == 0)
		return feed_config_parse_all(config, texts, count, diag);
	config_texts_free(texts, count);
	return -EINVAL;
}

int
feed_config_read(struct config_text **texts, size_t *count, const char *path,
    struct diag *diag)
{
	const bool there = access(path, F_OK) == 0 || errno != ENOENT;
	int error = there ? config_texts_read(texts, count, path, diag) : 0;

	if (error == 0)
		error = config_texts_read_beside(texts, count, path,
		    FEED_CONFIG_DIRECTORY, diag);
	return error;
}

int
feed_config_load(struct feeds_config **config, const char *path,
    struct diag *diag)
{
	struct config_text *texts = NULL;
	size_t count = 0;
	int error = feed_config_read(&texts, &count, path, diag);

	*config = NULL;
	/* Neither: it is the file that is missing. */
	if (error == 0 && count == 0)
		error = config_texts_read(&texts, &count, path, diag);
	if (error == 0)
		return feed_config_parse_all(config, texts, count, diag);
	config_texts_free(texts, count);
	return -EINVAL;
}

static bool
same_texts(char *const *a, size_t a_count, char *const *b, size_t b_count)
{
	if (a_count != b_count)
		return false;
	for (size_t i = 0; i < a_count; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return true;
}

static bool
same_node(const struct feed_node *a, const struct feed_node *b)
{
	if (a->label_count != b->label_count)
		return false;
	for (size_t i = 0; i < a->label_count; i++)
		if (strcmp(a->labels[i].key, b->labels[i].key) != 0 ||
		    strcmp(a->labels[i].value, b->labels[i].value) != 0)
			return false;
	return text_is_same(a->namespace, b->namespace) &&
	    text_is_same(a->cluster, b->cluster) &&
	    text_is_same(a->network, b->network) &&
	    text_is_same(a->service_account, b->service_account) &&
	    text_is_same(a->ip, b->ip);
}

bool
feed_config_same(const struct feed_config *a, const struct feed_config *b)
{
	return strcmp(a->name, b->name) == 0 && a->type == b->type &&
	    a->limit == b->limit && a->plaintext == b->plaintext && a->ca == b->ca &&
	    text_is_same(a->server, b->server) &&
	    same_texts(a->addresses, a->address_count, b->addresses,
	    b->address_count) &&
	    text_is_same(a->root_cert, b->root_cert) &&
	    text_is_same(a->cert, b->cert) && text_is_same(a->key, b->key) &&
	    text_is_same(a->token, b->token) && same_node(&a->node, &b->node) &&
	    text_is_same(a->kubeconfig, b->kubeconfig) &&
	    same_texts(a->namespaces, a->namespace_count, b->namespaces,
	    b->namespace_count) && a->pods == b->pods;
}

void
feed_config_print_defaults(FILE *out)
{
	fputs("# Every option of feed.conf(5) with its default.\n", out);
	config_option_print(feed_options, feed_option_count, out);
}

const char *
feed_config_type_name(enum feed_type type)
{
	return feed_types[type];
}

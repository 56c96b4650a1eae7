/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/feed_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config/capture.h"
#include "policy/config/file.h"
#include "resolver/sources/feed_file.h"

#define SUFFIX	".conf"

static void
free_texts(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

void
feed_conf_free(struct feed_conf *conf)
{
	struct feed_config *feed;

	if (conf == NULL)
		return;
	feed = &conf->feed;
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
	free(conf->state_dir);
	free(conf->run_dir);
	free(conf);
}

/* "mesh" of "/etc/nfdns/feeds.d/mesh.conf". */
static void
take_name(const struct config_load *load)
{
	struct feed_conf *conf = load->base;
	const char *slash = strrchr(load->path, '/');
	const char *name = slash != NULL ? slash + 1 : load->path;
	size_t length = strlen(name);

	if (length > sizeof(SUFFIX) - 1 &&
	    strcmp(name + length - (sizeof(SUFFIX) - 1), SUFFIX) == 0)
		length -= sizeof(SUFFIX) - 1;
	conf->feed.name = strndup(name, length);
	if (conf->feed.name == NULL)
		diag_add(load->diag, DIAG_ERROR, load->file, 0,
		    "out of memory");
	else if (!feed_file_name_is_valid(conf->feed.name))
		diag_add(load->diag, DIAG_ERROR, load->file, 0, "is named after "
		    "the feed: letters, digits, '-' and '_', at most 63, and "
		    SUFFIX);
}

int
feed_conf_parse(struct feed_conf **conf, const char *path, const char *text,
    size_t length, struct diag *diag)
{
	struct feed_conf *c = calloc(1, sizeof(*c));
	struct config_load load = { .base = c, .diag = diag, .file = path,
		.options = feed_options, .option_count = feed_option_count,
		.check = feed_check };
	struct config_text *texts = NULL;
	const size_t errors = diag->errors;
	size_t count = 0;

	*conf = NULL;
	if (c == NULL)
		diag_add(diag, DIAG_ERROR, path, 0, "out of memory");
	else if (config_texts_add(&texts, &count, path, text, length,
	    diag) == 0) {
		load.path = texts[0].absolute;
		take_name(&load);
		(void)!config_file_parse(&load, texts, count);
	}
	config_texts_free(texts, count);
	if (diag->errors != errors) {
		feed_conf_free(c);
		return -EINVAL;
	}
	*conf = c;
	return 0;
}

int
feed_conf_load(struct feed_conf **conf, const char *path, struct diag *diag)
{
	size_t length = 0;
	char *text = config_file_read(path, &length, diag);
	const int error = text == NULL ? -EINVAL :
	    feed_conf_parse(conf, path, text, length, diag);

	if (error < 0)
		*conf = NULL;
	free(text);
	return error;
}

void
feed_conf_print_defaults(FILE *out)
{
	fputs("# Every option of feed.conf(5) with its default.\n", out);
	config_option_print(feed_options, feed_option_count, out);
}

const char *
feed_config_type_name(enum feed_type type)
{
	return feed_types[type];
}

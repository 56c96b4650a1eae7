/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/join/feed_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config/config.h"

/* A string of libconfig's. */
static void
put_text(FILE *out, const char *text)
{
	(void)fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			(void)fputc('\\', out);
		(void)fputc(*text, out);
	}
	(void)fputc('"', out);
}

/* A setting in a line of its own, if it is set. */
static void
put_setting(FILE *out, const char *name, const char *text)
{
	if (text == NULL)
		return;
	(void)fprintf(out, "\n%s = ", name);
	put_text(out, text);
	(void)fputc(';', out);
}

static void
put_list(FILE *out, const char *name, char *const *texts, size_t count)
{
	if (count == 0)
		return;
	(void)fprintf(out, "\n%s = [ ", name);
	for (size_t i = 0; i < count; i++) {
		(void)fputs(i > 0 ? ", " : "", out);
		put_text(out, texts[i]);
	}
	(void)fputs(" ];", out);
}

/* As a list, since a key with '.' or '/' cannot be one of libconfig's. */
static void
put_labels(FILE *out, const struct feed_node *node)
{
	if (node->label_count == 0)
		return;
	(void)fputs(" labels = [", out);
	for (size_t i = 0; i < node->label_count; i++)
		(void)fprintf(out, "%s\n\t\"%s=%s\"", i > 0 ? "," : "",
		    node->labels[i].key, node->labels[i].value);
	(void)fputs(" ];", out);
}

static void
put_node(FILE *out, const struct feed_node *node)
{
	const struct {
		const char *name, *text;
	} rows[] = {
		{ "namespace", node->namespace }, { "cluster", node->cluster },
		{ "network", node->network },
		{ "service_account", node->service_account },
		{ "ip", node->ip },
	};

	(void)fputs("\nnode = {", out);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].text == NULL)
			continue;
		(void)fprintf(out, " %s = ", rows[i].name);
		put_text(out, rows[i].text);
		(void)fputc(';', out);
	}
	put_labels(out, node);
	(void)fputs(" };", out);
}

static void
put_feed(FILE *out, const struct feed_config *feed)
{
	(void)fprintf(out, "type = \"%s\";", feed->type == FEED_XDS ? "xds" :
	    "kubernetes");
	put_setting(out, "server", feed->server);
	put_list(out, "addresses", feed->addresses, feed->address_count);
	put_setting(out, "root_cert", feed->root_cert);
	put_setting(out, "cert", feed->cert);
	put_setting(out, "key", feed->key);
	put_setting(out, "token", feed->token);
	if (feed->ca)
		(void)fputs("\nca = true;", out);
	if (feed->type == FEED_XDS)
		put_node(out, &feed->node);
	put_setting(out, "kubeconfig", feed->kubeconfig);
	put_list(out, "namespaces", feed->namespaces, feed->namespace_count);
	(void)fputc('\n', out);
}

/* Ends the stream; its text, or NULL if it could not be written. */
static char *
finish(FILE *out, char **text)
{
	const bool failed = out == NULL || ferror(out) != 0;

	if (out != NULL && fclose(out) == 0 && !failed)
		return *text;
	free(*text);
	return NULL;
}

char *
feed_text(const struct feed_config *feed, const char *state_dir,
    const char *run_dir)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL)
		return NULL;
	(void)fputs(FEED_TEXT_HEAD, out);
	if (strcmp(state_dir, CONFIG_DEFAULT_STATE_DIR) != 0) {
		(void)fputs("state_dir = ", out);
		put_text(out, state_dir);
		(void)fputs(";\n", out);
	}
	if (strcmp(run_dir, CONFIG_DEFAULT_FEED_RUN_DIR) != 0) {
		(void)fputs("run_dir = ", out);
		put_text(out, run_dir);
		(void)fputs(";\n", out);
	}
	put_feed(out, feed);
	return finish(out, &text);
}

char *
feed_text_table(const char *name, const char *namespace)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL)
		return NULL;
	(void)fputs(FEED_TEXT_HEAD "mesh = {\n", out);
	if (namespace != NULL) {
		(void)fputs("\tnamespace = ", out);
		put_text(out, namespace);
		(void)fputs(";\n", out);
	}
	if (name != NULL)
		(void)fprintf(out, "\ttables = ( { format = \"feed\"; feed = "
		    "\"%s\"; } );\n", name);
	(void)fputs("};\n", out);
	return finish(out, &text);
}

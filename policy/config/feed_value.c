/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/capture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/config/feed_config.h"
#include "policy/config/setting.h"
#include "resolver/text/host.h"

#define TEXT_MAX_LENGTH	253

const char *const feed_types[] = { "xds", "kubernetes", NULL };

static struct feed_config *
feed_of(const struct config_load *load)
{
	return &((struct feed_conf *)load->base)->feed;
}

static bool
is_address(const char *text)
{
	uint8_t octets[16];

	return host_address(text, octets) != AF_UNSPEC;
}

void
feed_read_address(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const char *text = config_setting_get_string(value);

	/* "" is what nfdns join writes where nothing is known. */
	if (text[0] == '\0')
		return;
	if (is_address(text))
		config_store_text(load, to, strdup(text));
	else
		config_expected(load, option, value);
}

void
feed_read_addresses(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct feed_config *feed = feed_of(load);
	const char *text = config_setting_get_string(value);

	(void)to;
	if (is_address(text))
		config_append_text(load, &feed->addresses,
		    &feed->address_count, text);
	else
		config_expected(load, option, value);
}

void
feed_read_namespaces(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct feed_config *feed = feed_of(load);
	size_t errors = load->diag->errors;
	char *text = NULL;

	(void)to;
	config_read_namespace(load, option, value, &text);
	if (load->diag->errors == errors)
		config_append_text(load, &feed->namespaces,
		    &feed->namespace_count, text);
	free(text);
}

void
feed_read_server(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const char *text = config_setting_get_string(value);

	if (host_is_server(text))
		config_store_text(load, to, strdup(text));
	else
		config_expected(load, option, value);
}

static bool
is_plain_text(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return false;
	return length <= TEXT_MAX_LENGTH;
}

static void
add_label(const struct config_load *load, const struct config_option *option,
    const config_setting_t *value, struct feed_node *node, const char *key,
    size_t key_length, const char *text)
{
	struct feed_label *label;

	if (key_length == 0 || !is_plain_text(key, key_length) ||
	    !is_plain_text(text, strlen(text))) {
		config_expected(load, option, value);
		return;
	}
	for (size_t i = 0; i < node->label_count; i++)
		if (strncmp(node->labels[i].key, key, key_length) == 0 &&
		    node->labels[i].key[key_length] == '\0') {
			config_wrong(load, value, "this label is in the list "
			    "already; take one of the two out");
			return;
		}
	if (node->label_count == FEED_CONFIG_MAX_LABELS) {
		config_wrong(load, value, "more than %d labels",
		    FEED_CONFIG_MAX_LABELS);
		return;
	}
	label = config_append(load, &node->labels, &node->label_count,
	    sizeof(*label));
	if (label == NULL)
		return;
	config_store_text(load, &label->key, strndup(key, key_length));
	config_store_text(load, &label->value, strdup(text));
}

/* libconfig's keys have neither '.' nor '/', as labels of Kubernetes may. */
void
feed_read_labels(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const int count = config_setting_length(value);

	for (int i = 0; i < count; i++) {
		const config_setting_t *item = config_setting_get_elem(value,
		    (unsigned int)i);
		const char *text = config_setting_get_string(item), *equals;

		if (text == NULL)
			config_expected(load, option, item);
		else if (item->name != NULL)
			add_label(load, option, item, to, item->name,
			    strlen(item->name), text);
		else if ((equals = strchr(text, '=')) == NULL)
			config_expected(load, option, item);
		else
			add_label(load, option, item, to, text,
			    (size_t)(equals - text), equals + 1);
	}
}

/* Options of one type only. */
static void
check_type(const struct config_load *load, const config_setting_t *group,
    const struct feed_config *feed)
{
	static const struct {
		const char *option;
		enum feed_type type;
	} narrow[] = {
		{ "server", FEED_XDS }, { "addresses", FEED_XDS },
		{ "root_cert", FEED_XDS }, { "cert", FEED_XDS },
		{ "key", FEED_XDS }, { "token", FEED_XDS },
		{ "ca", FEED_XDS },
		{ "plaintext", FEED_XDS }, { "node", FEED_XDS },
		{ "kubeconfig", FEED_KUBERNETES },
		{ "namespaces", FEED_KUBERNETES },
		{ "pods", FEED_KUBERNETES },
	};

	for (size_t i = 0; i < sizeof(narrow) / sizeof(narrow[0]); i++) {
		const config_setting_t *value =
		    config_setting_get_member(group, narrow[i].option);

		if (value != NULL && narrow[i].type != feed->type)
			config_wrong(load, value, "only feeds of type %s have "
			    "this option; take it out",
			    feed_types[narrow[i].type]);
	}
}

static void
check_xds(const struct config_load *load, const config_setting_t *group,
    const struct feed_config *feed)
{
	if (config_setting_get_member(group, "server") == NULL)
		diag_add(load->diag, DIAG_ERROR, load->file, 0,
		    "\"server\" is missing");
	if ((feed->cert != NULL) != (feed->key != NULL))
		diag_add(load->diag, DIAG_ERROR, load->file, 0, "\"%s\" is "
		    "missing: a certificate and its key are given together",
		    feed->cert == NULL ? "cert" : "key");
	if (feed->ca && feed->cert != NULL)
		diag_add(load->diag, DIAG_ERROR, load->file, 0, "\"ca\" makes a "
		    "certificate and key of its own; take cert and key out, or "
		    "ca");
	if (feed->plaintext && (feed->root_cert != NULL || feed->ca ||
	    feed->cert != NULL || feed->token != NULL))
		diag_add(load->diag, DIAG_ERROR, load->file, 0, "without TLS "
		    "(plaintext) neither certificates nor a token can be used; "
		    "take root_cert, cert, key, token and ca out");
}

void
feed_check(const struct config_load *load, const config_setting_t *root)
{
	const struct feed_config *feed = feed_of(load);

	check_type(load, root, feed);
	if (feed->type == FEED_XDS)
		check_xds(load, root, feed);
}

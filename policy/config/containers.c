/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/capture.h"

#include <ctype.h>
#include <net/if.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config/setting.h"

/* As the kernel's dev_valid_name(), and "*" at the end. */
static bool
is_interface(const char *text)
{
	const size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		if (!isgraph((unsigned char)text[i]) ||
		    strchr("/:\"", text[i]) != NULL ||
		    (text[i] == '*' && i + 1 < length))
			return false;
	return length > 0 && length < IFNAMSIZ && strcmp(text, "*") != 0 &&
	    strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
}

void
config_read_interface(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct config_container *c = (void *)((char *)to -
	    offsetof(struct config_container, interfaces));
	const char *text = config_setting_get_string(value);

	if (!is_interface(text)) {
		config_expected(load, option, value);
		return;
	}
	if (strcmp(text, "lo") == 0) {
		config_wrong(load, value, "lo is the machine's own: its programs "
		    "are answered anyway; take it out");
		return;
	}
	config_append_text(load, &c->interfaces, &c->interface_count, text);
}

void
config_read_source(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct config_container *c = (void *)((char *)to -
	    offsetof(struct config_container, sources));
	struct config_prefix prefix, *item;

	if (!config_prefix_of(load, option, value, &prefix))
		return;
	item = config_append(load, &c->sources, &c->source_count,
	    sizeof(*item));
	if (item != NULL)
		*item = prefix;
}

void
config_read_containers(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct config *config = load->config;
	struct config_container *c;
	const size_t errors = load->diag->errors;

	(void)option;
	(void)to;
	c = config_append(load, &config->containers, &config->container_count,
	    sizeof(*c));
	if (c == NULL)
		return;
	config_option_read_members(load, "containers[].", value, c);
	if (c->interface_count == 0 && load->diag->errors == errors)
		config_wrong(load, value, "\"interfaces\" is missing: those of "
		    "the containers, such as \"docker0\"");
}

void
config_containers_free(struct config *config)
{
	for (size_t i = 0; i < config->container_count; i++) {
		struct config_container *c = &config->containers[i];

		for (size_t n = 0; n < c->interface_count; n++)
			free(c->interfaces[n]);
		free(c->interfaces);
		free(c->sources);
	}
	free(config->containers);
}

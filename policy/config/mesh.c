/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/capture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/config/setting.h"
#include "resolver/compile/source_files.h"
#include "resolver/sources/feed_file.h"
#include "resolver/text/host.h"

#define STALE_AFTER_S	600		/* as the row of the option says */

void
config_read_search(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct mesh *mesh = to;
	struct dns_name name = { .length = 0 };
	size_t errors = load->diag->errors;

	config_read_name(load, option, value, &name);
	if (load->diag->errors != errors)
		return;
	for (size_t i = 0; i < mesh->search_count; i++)
		if (name_equal(&mesh->search[i], &name))
			return;
	if (mesh->search_count == MESH_MAX_SEARCH)
		config_wrong(load, value, "more than %d search domains",
		    MESH_MAX_SEARCH);
	else
		mesh->search[mesh->search_count++] = name;
}

void
config_read_format(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const char *text = config_setting_get_string(value);
	const struct source_format **format = to;

	(void)option;
	*format = formats_find(text);
	if (*format == NULL)
		config_wrong(load, value, "found \"%.60s\", expected one of "
		    "the formats %s", text, formats_names());
}

void
config_read_origin(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct dns_name name = { .length = 0 };
	size_t errors = load->diag->errors;
	char **origin = to;

	config_read_name(load, option, value, &name);
	if (load->diag->errors != errors)
		return;
	*origin = strdup(config_setting_get_string(value));
	if (*origin == NULL)
		config_wrong(load, value, "out of memory");
}

void
config_read_namespaces(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct mesh_texts *list = to;
	size_t errors = load->diag->errors;
	char *text = NULL;

	config_read_namespace(load, option, value, &text);
	if (load->diag->errors == errors)
		config_append_text(load, &list->texts, &list->count, text);
	free(text);
}

/* Options that mean something for one format only. */
static void
check_format(const struct config_load *load, const config_setting_t *table,
    const struct source_format *format)
{
	static const char feeds[] = "tables of feeds";
	static const struct {
		const char *option, *format, *of;
	} narrow[] = {
		{ "feed", "feed", feeds },
		{ "stale_after", "feed", feeds },
		{ "origin", "zone", "zone files" },
		{ "namespaces", "kubernetes", "Kubernetes objects" },
		{ "pods", "kubernetes", "Kubernetes objects" },
		{ "cluster", "kubernetes", "Kubernetes objects" },
		{ "network", "kubernetes", "Kubernetes objects" },
	};

	for (size_t i = 0; i < sizeof(narrow) / sizeof(narrow[0]); i++) {
		const config_setting_t *value =
		    config_setting_get_member(table, narrow[i].option);

		/* What a feed brings may be objects, too. */
		if (format->kept && strcmp(narrow[i].format,
		    "kubernetes") == 0)
			continue;
		if (value != NULL && strcmp(format->name,
		    narrow[i].format) != 0)
			config_wrong(load, value, "only %s have this option; "
			    "take it out", narrow[i].of);
	}
}

/* A feed's table is where the feed keeps it, and always followed. */
static void
complete_feed(const struct config_load *load, const config_setting_t *table,
    struct mesh_source *source)
{
	static const char *const none[] = { "path", "watch" };
	char *path = NULL;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		const config_setting_t *value =
		    config_setting_get_member(table, none[i]);

		if (value != NULL)
			config_wrong(load, value, "tables of feeds do not have "
			    "this option; take it out");
	}
	if (source->feed == NULL) {
		if (config_setting_get_member(table, "feed") == NULL)
			config_wrong(load, table, "\"feed\" is missing");
		return;
	}
	/* Without a directory there has been an error. */
	if (load->config->state_dir == NULL)
		return;
	if (asprintf(&path, "%s/%s" FEED_FILE_TABLE, load->config->state_dir,
	    source->feed) < 0)
		path = NULL;
	free(source->path);
	config_store_text(load, &source->path, path);
}

static void
check_feed_twice(const struct config_load *load, const config_setting_t *table,
    const struct mesh *mesh)
{
	const char *feed = mesh->sources[mesh->source_count - 1].feed;

	for (size_t i = 0; feed != NULL && i + 1 < mesh->source_count; i++)
		if (mesh->sources[i].feed != NULL &&
		    strcmp(mesh->sources[i].feed, feed) == 0)
			config_wrong(load, table, "feed %s is in the list "
			    "already; take one of the two out", feed);
}

void
config_read_tables(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct mesh *mesh = to;
	struct mesh_source *source = config_append(load, &mesh->sources,
	    &mesh->source_count, sizeof(*source));

	(void)option;
	if (source == NULL)
		return;
	source->file = load->path;
	source->line = config_setting_source_line(value);
	source->stale_after = STALE_AFTER_S;
	config_option_read_members(load, "mesh.tables[].", value, source);
	if (source->format != NULL)
		check_format(load, value, source->format);
	if (source->format != NULL && source->format->kept) {
		complete_feed(load, value, source);
		check_feed_twice(load, value, mesh);
	} else if (config_setting_get_member(value, "path") == NULL)
		config_wrong(load, value, "\"path\" is missing");
}

void
config_read_zones(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct mesh *mesh = to;
	struct mesh_zone *zone = &mesh->zones[mesh->zone_count];
	size_t errors = load->diag->errors;

	(void)option;
	if (mesh->zone_count == MESH_MAX_ZONES) {
		config_wrong(load, value, "more than %d zones", MESH_MAX_ZONES);
		return;
	}
	zone->file = load->path;
	zone->line = config_setting_source_line(value);
	config_option_read_members(load, "mesh.zones[].", value, zone);
	if (load->diag->errors != errors)
		return;
	for (size_t i = 0; i < mesh->zone_count; i++)
		if (name_equal(&mesh->zones[i].name, &zone->name)) {
			config_wrong(load, value, "this zone is in the list "
			    "already; take one of the two out");
			return;
		}
	mesh->zone_count++;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/join/config_edit.h"

#include <sys/stat.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/cli/join/edit.h"
#include "nfq/cli/join/feed_text.h"
#include "policy/config/feed_config.h"
#include "policy/config/file.h"

static bool
no_memory(struct diag *diag)
{
	diag_add(diag, DIAG_ERROR, NULL, 0, "out of memory");
	return false;
}

static void
reset(struct config_edit *e)
{
	e->text = e->by_hand = e->old_namespace = NULL;
	e->length = 0;
	e->adds = false;
}

/* 1: a regular file; 0: there is none, or something else. */
static bool
is_regular(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Takes the text over from the editor. */
static void
take(struct config_edit *e, struct edit *edit)
{
	e->text = edit->text;
	e->length = edit->length;
	*edit = (struct edit){ .text = NULL };
}

/* feed.conf */

static const struct feed_config *
find_feed(const struct feeds_config *feeds, const char *name)
{
	for (size_t i = 0; i < feeds->feed_count; i++)
		if (strcmp(feeds->feeds[i].name, name) == 0)
			return &feeds->feeds[i];
	return NULL;
}

/* The directories are where the two programs meet. */
static bool
check_directories(const struct config_edit *e, const char *path,
    const struct feeds_config *feeds, struct diag *diag)
{
	const struct {
		const char *name, *theirs, *other, *ours;
	} rows[] = {
		{ "state_dir", feeds->state_dir, "state_dir",
		  e->config->state_dir },
		{ "run_dir", feeds->run_dir, "feed_run_dir",
		  e->config->feed_run_dir },
	};
	bool good = true;

	for (size_t i = 0; i < 2; i++) {
		if (strcmp(rows[i].theirs, rows[i].ours) == 0)
			continue;
		diag_add(diag, DIAG_ERROR, path, 0, "%s is \"%s\", but %s of "
		    "%s is \"%s\"; make them the same", rows[i].name,
		    rows[i].theirs, rows[i].other, e->config->path,
		    rows[i].ours);
		good = false;
	}
	return good;
}

/* Adds the feed to a text and parses it. */
static bool
add_feed(struct config_edit *e, const char *path, struct edit *edit,
    const char *item, struct diag *diag)
{
	struct feeds_config *feeds = NULL;
	struct diag errors = DIAG_INIT;
	bool good = edit_add_item(edit, NULL, "feeds", item, e->name) == 0 &&
	    feed_config_parse(&feeds, path, edit->text, edit->length,
	    &errors) == 0;

	if (good && (find_feed(feeds, e->name) == NULL ||
	    !check_directories(e, path, feeds, diag)))
		good = false;
	if (good)
		take(e, edit);
	for (size_t i = 0; i < errors.kept; i++)
		if (errors.entries[i].level == DIAG_ERROR)
			diag_add_text(diag, DIAG_ERROR, errors.entries[i].text);
	if (!good && diag->errors == 0)
		diag_add(diag, DIAG_ERROR, path, 0, "the feed cannot be added "
		    "to \"feeds\"; add it by hand: %s", item);
	diag_free(&errors);
	feed_config_free(feeds);
	return good;
}

static bool
new_file(struct config_edit *e, const char *path, const char *item,
    struct diag *diag)
{
	char *text = feed_text_file(e->config->state_dir,
	    e->config->feed_run_dir);
	struct edit edit = { .text = text, .length = text != NULL ?
	    strlen(text) : 0 };
	const bool good = text != NULL ?
	    add_feed(e, path, &edit, item, diag) : no_memory(diag);

	edit_free(&edit);
	return good;
}

/* The file that is there; it has a feed of that name or not. */
static bool
change_file(struct config_edit *e, const char *path, struct edit *edit,
    const struct feeds_config *feeds, const char *item, struct diag *diag)
{
	const bool has = find_feed(feeds, e->name) != NULL;
	int removed = has ? edit_remove(edit, e->name) : 0;

	e->adds = !has;
	if (has && removed <= 0)
		return new_file(e, path, item, diag);
	return add_feed(e, path, edit, item, diag);
}

bool
config_edit_add_feed(struct config_edit *e, const char *path,
    const char *item, bool force, struct diag *diag)
{
	struct feeds_config *feeds = NULL;
	struct diag errors = DIAG_INIT;
	struct edit edit = { .text = NULL };
	bool good;

	reset(e);
	if (access(path, F_OK) < 0 && errno == ENOENT && !is_regular(path))
		return new_file(e, path, item, diag);
	edit.text = config_file_read(path, &edit.length, &errors);
	if (edit.text == NULL || feed_config_parse(&feeds, path, edit.text,
	    edit.length, &errors) != 0) {
		good = force ? new_file(e, path, item, diag) : false;
		for (size_t i = 0; !force && i < errors.kept; i++)
			diag_add_text(diag, errors.entries[i].level,
			    errors.entries[i].text);
	} else {
		good = change_file(e, path, &edit, feeds, item, diag);
	}
	diag_free(&errors);
	feed_config_free(feeds);
	edit_free(&edit);
	return good;
}

/* Whether feed.conf without the feed is one, or nothing but the frame of it. */
static bool
is_rest(const char *path, const struct edit *edit, bool empty)
{
	struct feeds_config *feeds = NULL;
	struct diag errors = DIAG_INIT;
	const bool good = empty || feed_config_parse(&feeds, path, edit->text,
	    edit->length, &errors) == 0;

	feed_config_free(feeds);
	diag_free(&errors);
	return good;
}

bool
config_edit_remove_feed(struct config_edit *e, const char *path,
    bool *empty, struct diag *diag)
{
	char *skeleton = feed_text_file(e->config->state_dir,
	    e->config->feed_run_dir);
	struct edit edit = { .text = NULL };
	bool good = skeleton != NULL || no_memory(diag);
	int removed = 0;

	reset(e);
	*empty = false;
	if (good && is_regular(path)) {
		edit.text = config_file_read(path, &edit.length, diag);
		good = edit.text != NULL;
		removed = good ? edit_remove(&edit, e->name) : 0;
	}
	if (good && removed > 0)
		*empty = edit.length == strlen(skeleton) &&
		    memcmp(edit.text, skeleton, edit.length) == 0;
	if (removed < 0 || (removed > 0 && !is_rest(path, &edit, *empty))) {
		diag_add(diag, DIAG_ERROR, path, 0, "what nfdns join %s added "
		    "has been changed; take the feed out by hand", e->name);
		good = false;
	}
	if (good && removed > 0)
		take(e, &edit);
	edit_free(&edit);
	free(skeleton);
	return good;
}

/* nfdnsd.conf */

static bool
has_table(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->mesh.source_count; i++)
		if (config->mesh.sources[i].feed != NULL &&
		    strcmp(config->mesh.sources[i].feed, name) == 0)
			return true;
	return false;
}

static char *
table_item(const char *name)
{
	char *item;

	return asprintf(&item, "{ format = \"feed\"; feed = \"%s\"; }",
	    name) < 0 ? NULL : item;
}

/* Adds what is missing to the text; 0 or a negative errno. */
static int
add_missing(struct config_edit *e, struct edit *edit, const char *item)
{
	char *setting = NULL;
	int error = 0;

	if (!has_table(e->config, e->name))
		error = edit_add_item(edit, "mesh", "tables", item, e->name);
	if (error < 0 || e->namespace == NULL ||
	    strcmp(e->namespace, e->config->mesh.namespace) == 0)
		return error;
	if (edit_has(edit, "mesh", "namespace")) {
		e->old_namespace = strdup(e->config->mesh.namespace);
		return e->old_namespace == NULL ? -ENOMEM : 0;
	}
	if (asprintf(&setting, "namespace = \"%s\";", e->namespace) < 0)
		return -ENOMEM;
	error = edit_add_setting(edit, "mesh", setting, e->name);
	free(setting);
	return error;
}

/* Whether the text says the same and just one table more (or fewer). */
static bool
is_sound(const struct config_edit *e, const struct edit *edit, bool wanted)
{
	const size_t before = e->config->mesh.source_count;
	const bool had = has_table(e->config, e->name);
	struct diag errors = DIAG_INIT;
	struct config *config = NULL;
	bool sound = config_parse(&config, e->config->path, edit->text,
	    edit->length, &errors) == 0;

	if (sound)
		sound = has_table(config, e->name) == wanted &&
		    config->mesh.source_count == before + (wanted && !had) -
		    (!wanted && had);
	config_free(config);
	diag_free(&errors);
	return sound;
}

bool
config_edit_add_table(struct config_edit *e, struct diag *diag)
{
	const char *path = e->config->path;
	struct edit edit = { .text = NULL };
	char *item = table_item(e->name);
	int error = item != NULL ? 0 : -ENOMEM;
	bool same;

	reset(e);
	if (error == 0) {
		edit.text = config_file_read(path, &edit.length, diag);
		if (edit.text == NULL) {
			free(item);
			return false;
		}
		error = add_missing(e, &edit, item);
	}
	same = has_table(e->config, e->name) && error == 0 &&
	    (e->old_namespace != NULL || e->namespace == NULL ||
	    strcmp(e->namespace, e->config->mesh.namespace) == 0);
	if (error == 0 && !same) {
		if (is_regular(path) && is_sound(e, &edit, true))
			take(e, &edit);
		else
			error = -EINVAL;
	}
	if (error == -EINVAL) {
		e->by_hand = item;
		item = NULL;
	}
	free(item);
	edit_free(&edit);
	return error == 0 || error == -EINVAL || no_memory(diag);
}

bool
config_edit_remove_table(struct config_edit *e, struct diag *diag)
{
	const char *path = e->config->path;
	struct edit edit = { .text = NULL };
	int removed;

	reset(e);
	edit.text = config_file_read(path, &edit.length, diag);
	if (edit.text == NULL)
		return false;
	removed = edit_remove(&edit, e->name);
	if (removed > 0 && is_regular(path) && is_sound(e, &edit, false))
		take(e, &edit);
	else if (removed != 0 || has_table(e->config, e->name))
		e->by_hand = table_item(e->name);
	edit_free(&edit);
	return true;
}

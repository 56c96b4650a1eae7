/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nfdnsd.conf as a whole: its values, and the loose ends tied. */
#include "policy/config/config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <libconfig.h>

#include "policy/config/capture.h"
#include "policy/config/file.h"
#include "policy/config/setting.h"
#include "policy/config/resolv_conf.h"
#include "resolver/sources/source_format.h"

/* Whether the search list is the machine's. */
static bool
complete_search(struct mesh *mesh)
{
	struct resolv_conf machine;

	if (mesh->search_count > 0)
		return false;
	/* Without the file there is no search list; that is no error. */
	(void)resolv_conf_read(&machine, RESOLV_CONF_PATH);
	memcpy(mesh->search, machine.search, sizeof(mesh->search));
	mesh->search_count = machine.search_count;
	return true;
}

/* Takes over the texts. */
static int
parse(struct config **config, struct config_text *texts, size_t count,
    struct diag *diag)
{
	struct config_load load = {
		.diag = diag, .file = texts[0].path, .path = texts[0].absolute,
		.options = config_options, .option_count = config_option_count,
	};
	const size_t errors = diag->errors, warnings = diag->warnings;
	struct config *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		diag_add(diag, DIAG_ERROR, load.file, 0, "out of memory");
		config_texts_free(texts, count);
		return -EINVAL;
	}
	c->texts = texts;
	c->text_count = count;
	c->path = texts[0].absolute;
	load.config = load.base = c;
	forward_settings_defaults(&c->forward);
	if (config_file_parse(&load, texts, count)) {
		c->answers.tcp = c->capture.tcp;
		c->forward.cut = !c->capture.tcp;
		c->machine_search = complete_search(&c->mesh);
		config_complete_forward(&load);
		config_bypass_feed(&load);
	}
	if (c->run_dir != NULL && asprintf(&c->feed_run_dir, "%s-feed",
	    c->run_dir) < 0) {
		c->feed_run_dir = NULL;
		diag_add(diag, DIAG_ERROR, load.file, 0, "out of memory");
	}
	/* In any case, so that all errors are found at once. */
	config_complete_policy(&load);
	if (diag->errors != errors) {
		config_free(c);
		return -EINVAL;
	}
	c->warnings = diag->warnings - warnings;
	*config = c;
	return 0;
}

int
config_parse(struct config **config, const char *path, const char *text,
    size_t length, struct diag *diag)
{
	struct config_text *texts = NULL;
	size_t count = 0;

	*config = NULL;
	if (config_texts_add(&texts, &count, path, text, length, diag) < 0) {
		config_texts_free(texts, count);
		return -EINVAL;
	}
	return parse(config, texts, count, diag);
}

int
config_again(struct config **config, const struct config *running,
    struct diag *diag)
{
	struct config_text *texts = NULL;
	size_t count = 0;
	int error = 0;

	*config = NULL;
	for (size_t i = 0; i < running->text_count && error == 0; i++)
		error = config_texts_add(&texts, &count, running->texts[i].path,
		    running->texts[i].text, running->texts[i].length, diag);
	if (error == 0 && texts != NULL)
		return parse(config, texts, count, diag);
	config_texts_free(texts, count);
	return -EINVAL;
}

bool
config_same_text(const struct config *a, const struct config *b)
{
	bool same = a->text_count == b->text_count;

	for (size_t i = 0; same && i < a->text_count; i++)
		same = strcmp(a->texts[i].absolute, b->texts[i].absolute) == 0 &&
		    a->texts[i].length == b->texts[i].length &&
		    memcmp(a->texts[i].text, b->texts[i].text,
		    a->texts[i].length) == 0;
	return same;
}

struct config *
config_borrow(const struct config *running)
{
	struct config *config = malloc(sizeof(*config));
	const struct mesh *mesh = &running->mesh;
	struct mesh_source *sources = calloc(mesh->source_count + 1,
	    sizeof(*sources));

	if (config == NULL || sources == NULL) {
		free(config);
		free(sources);
		return NULL;
	}
	/* Padding included: parts of it are compared. */
	memcpy(config, running, sizeof(*config));
	for (size_t i = 0; i < mesh->source_count; i++) {
		sources[i] = mesh->sources[i];
		sources[i].changed = 0;
		sources[i].left_out = false;
	}
	config->mesh.sources = sources;
	config->borrows = true;
	return config;
}

int
config_load(struct config **config, const char *path, struct diag *diag)
{
	struct config_text *texts = NULL;
	size_t count = 0;

	*config = NULL;
	if (config_texts_read(&texts, &count, path, diag) == 0 &&
	    config_texts_read_beside(&texts, &count, path, "conf.d", diag) == 0)
		return parse(config, texts, count, diag);
	config_texts_free(texts, count);
	return -EINVAL;
}

void
config_free(struct config *config)
{
	if (config == NULL)
		return;
	if (config->borrows) {
		free(config->mesh.sources);
		free(config);
		return;
	}
	for (size_t i = 0; i < config->capture.bypass.cgroup_count; i++)
		free(config->capture.bypass.cgroups[i].path);
	free(config->capture.bypass.cgroups);
	free(config->capture.bypass.users);
	free(config->capture.bypass.groups);
	free(config->capture.bypass.marks);
	free(config->capture.bypass.destinations);
	free(config->capture.nameservers);
	mesh_clear(&config->mesh);
	policy_clear(&config->policy);
	for (size_t i = 0; i < config->audit_count; i++)
		free(config->audits[i].path);
	free(config->audits);
	config_containers_free(config);
	config_texts_free(config->texts, config->text_count);
	free(config->run_dir);
	free(config->state_dir);
	free(config->feed_run_dir);
	free(config->forward_ca);
	free(config->user);
	free(config);
}

/* Whether the option has the same value in both. */
static bool
same_value(const struct config_option *option, const struct config *a,
    const struct config *b)
{
	const void *left = (const char *)a + option->offset;
	const void *right = (const char *)b + option->offset;

	switch (option->kind) {
	case OPTION_TEXT:
		return strcmp(*(char *const *)left, *(char *const *)right) == 0;
	case OPTION_USER:
		return a->uid == b->uid && a->gid == b->gid;
	default:
		return memcmp(left, right, option->size) == 0;
	}
}

int
config_check_reload(const struct config *running, const struct config *next,
    struct diag *diag)
{
	int error = 0;

	for (size_t i = 0; i < config_option_count; i++) {
		const struct config_option *option = &config_options[i];

		if (option->reload || option->worker ||
		    same_value(option, running, next))
			continue;
		diag_add(diag, DIAG_ERROR, next->path, 0,
		    "%s has changed, which needs a restart: put it back, or "
		    "restart nfdnsd", option->path);
		error = -EINVAL;
	}
	return error;
}

bool
config_wants_worker(const struct config *running, const struct config *next)
{
	for (size_t i = 0; i < config_option_count; i++)
		if (config_options[i].worker &&
		    !same_value(&config_options[i], running, next))
			return true;
	return false;
}

char *
config_peek_run_dir(const char *path)
{
	const char *value = NULL;
	config_t tree;
	struct stat st;
	char *run_dir;

	config_init(&tree);
	/* A text that breaks off keeps the settings before that place. */
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size <= (off_t)CONFIG_MAX_OCTETS)
		(void)config_read_file(&tree, path);
	if (config_lookup_string(&tree, "run_dir", &value) != CONFIG_TRUE ||
	    value[0] != '/')
		value = CONFIG_DEFAULT_RUN_DIR;
	run_dir = strdup(value);
	config_destroy(&tree);
	return run_dir;
}

static int
add(struct config_newer *newer, const char *path, const char *behind)
{
	char **files = reallocarray(newer->files, newer->count + 1,
	    sizeof(*files));

	if (files == NULL)
		return -ENOMEM;
	newer->files = files;
	if (asprintf(&files[newer->count], "%s%s", path, behind) < 0)
		return -ENOMEM;
	newer->count++;
	return 0;
}

static const struct config_text *
text_of(const struct config_text *texts, size_t count, const char *absolute)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(texts[i].absolute, absolute) == 0)
			return &texts[i];
	return NULL;
}

/* What cannot be read now is gone, for whoever reloads. */
static int
compare_texts(struct config_newer *newer, const struct config *config)
{
	struct diag diag = DIAG_INIT;
	struct config_text *texts = NULL;
	size_t count = 0;
	int error = 0;

	(void)!config_texts_read(&texts, &count, config->path, &diag);
	(void)!config_texts_read_beside(&texts, &count, config->path, "conf.d",
	    &diag);
	for (size_t i = 0; i < count && error == 0; i++) {
		const struct config_text *before = text_of(config->texts,
		    config->text_count, texts[i].absolute);

		if (before == NULL || before->length != texts[i].length ||
		    memcmp(before->text, texts[i].text, before->length) != 0)
			error = add(newer, texts[i].path, "");
	}
	for (size_t i = 0; i < config->text_count && error == 0; i++)
		if (text_of(texts, count, config->texts[i].absolute) == NULL)
			error = add(newer, config->texts[i].path, " (gone)");
	config_texts_free(texts, count);
	diag_free(&diag);
	return error;
}

/* When the newest file in it changed that the format reads. */
static int64_t
newest_in(const char *path, const char *ending)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	int64_t newest = 0;
	struct stat st;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		const size_t length = strlen(entry->d_name);
		const size_t tail = strlen(ending);

		if (entry->d_name[0] != '.' && length > tail &&
		    entry->d_name[length - 1] != '~' &&
		    strcmp(entry->d_name + length - tail, ending) == 0 &&
		    fstatat(dirfd(directory), entry->d_name, &st, 0) == 0 &&
		    S_ISREG(st.st_mode) && st.st_mtime > newest)
			newest = st.st_mtime;
	}
	if (directory != NULL)
		(void)closedir(directory);
	return newest;
}

static int
compare_source(struct config_newer *newer, const struct mesh_source *source)
{
	int64_t changed;
	struct stat st;

	if (source->format->kept)
		return 0;
	if (stat(source->path, &st) < 0)
		return source->left_out ? 0 : add(newer, source->path,
		    " (gone)");
	changed = S_ISDIR(st.st_mode) && source->format->ending != NULL ?
	    newest_in(source->path, source->format->ending) : st.st_mtime;
	return changed == source->changed ? 0 : add(newer, source->path, "");
}

int
config_newer(struct config_newer *newer, const struct config *config,
    int64_t loaded)
{
	const struct policy *policy = &config->policy;
	int error;
	struct stat st;

	*newer = (struct config_newer){ NULL, 0 };
	error = compare_texts(newer, config);
	for (size_t i = 0; i < config->mesh.source_count && error == 0; i++)
		error = compare_source(newer, &config->mesh.sources[i]);
	for (size_t i = 0; i < policy->set_count && error == 0; i++)
		if (stat(policy->sets[i].path, &st) == 0 &&
		    st.st_mtime > loaded)
			error = add(newer, policy->sets[i].path, "");
	return error;
}

void
config_newer_free(struct config_newer *newer)
{
	for (size_t i = 0; i < newer->count; i++)
		free(newer->files[i]);
	free(newer->files);
	*newer = (struct config_newer){ NULL, 0 };
}

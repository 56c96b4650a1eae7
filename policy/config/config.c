/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nfdnsd.conf as a whole: its values, and the loose ends tied. */
#include "policy/config/config.h"

#include <sys/stat.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libconfig.h>

#include "policy/config/file.h"
#include "policy/config/forward.h"
#include "policy/config/option.h"
#include "policy/config/policy_read.h"
#include "policy/config/resolv_conf.h"

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

int
config_parse(struct config **config, const char *path, const char *text,
    size_t length, struct diag *diag)
{
	struct config_load load = {
		.diag = diag, .file = path, .options = config_options,
		.option_count = config_option_count,
	};
	size_t errors = diag->errors, warnings = diag->warnings;
	char *copy = NULL;

	*config = NULL;
	load.config = calloc(1, sizeof(*load.config));
	load.base = load.config;
	copy = strndup(text, length);
	if (load.config != NULL) {
		forward_settings_defaults(&load.config->forward);
		load.path = load.config->path = config_file_absolute(path);
	}
	if (load.path == NULL || copy == NULL)
		diag_add(diag, DIAG_ERROR, path, 0, "cannot be read: %s",
		    strerror(errno));
	else if (config_file_parse(&load, text, length)) {
		load.config->answers.tcp = load.config->capture.tcp;
		load.config->forward.cut = !load.config->capture.tcp;
		load.config->machine_search =
		    complete_search(&load.config->mesh);
		config_complete_forward(&load);
	}
	/* In any case, so that all errors are found at once. */
	if (load.config != NULL)
		config_complete_policy(&load);
	if (load.config == NULL || diag->errors != errors) {
		free(copy);
		config_free(load.config);
		return -EINVAL;
	}
	load.config->text = copy;
	load.config->warnings = diag->warnings - warnings;
	*config = load.config;
	return 0;
}

int
config_again(struct config **config, const struct config *running,
    struct diag *diag)
{
	return config_parse(config, running->path, running->text,
	    strlen(running->text), diag);
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
	size_t length = 0;
	char *text;
	int error;

	*config = NULL;
	text = config_file_read(path, &length, diag);
	if (text == NULL)
		return -EINVAL;
	error = config_parse(config, path, text, length, diag);
	free(text);
	return error;
}

static void
free_bypass(struct config_bypass *bypass)
{
	for (size_t i = 0; i < bypass->cgroup_count; i++)
		free(bypass->cgroups[i].path);
	free(bypass->cgroups);
	free(bypass->users);
	free(bypass->groups);
	free(bypass->marks);
	free(bypass->destinations);
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
	free_bypass(&config->capture.bypass);
	free(config->capture.nameservers);
	mesh_clear(&config->mesh);
	policy_clear(&config->policy);
	for (size_t i = 0; i < config->audit_count; i++)
		free(config->audits[i].path);
	free(config->audits);
	free(config->path);
	free(config->text);
	free(config->run_dir);
	free(config->state_dir);
	free(config->feed_run_dir);
	free(config->forward_ca);
	free(config->user);
	free(config->feed_user);
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

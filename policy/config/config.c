/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file as a whole: read, parsed, each option looked up, loose ends tied. */
#include "policy/config/config.h"

#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libconfig.h>

#include "policy/config/option.h"
#include "policy/config/syntax.h"
#include "policy/config/resolv_conf.h"
#include "resolver/text/suggest.h"

/* Opens path without waiting for the writer of a fifo. */
static int
open_regular(const char *path, struct diag *diag)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *why = NULL;

	if (fd < 0) {
		diag_add(diag, DIAG_ERROR, path, 0, "cannot be opened: %s; "
		    "name the configuration file with -c", strerror(errno));
		return -1;
	}
	if (fstat(fd, &st) < 0)
		why = strerror(errno);
	else if (S_ISDIR(st.st_mode))
		why = "is a directory; name the configuration file in it";
	else if (!S_ISREG(st.st_mode))
		why = "is not a regular file; the configuration has to be one";
	else if (st.st_size > (off_t)CONFIG_MAX_OCTETS)
		why = "is larger than 1 MiB; is it the right file?";
	if (why == NULL)
		return fd;
	diag_add(diag, DIAG_ERROR, path, 0, "%s", why);
	close(fd);
	return -1;
}

/* The whole of a file that may grow while we read it.  The caller frees. */
static char *
read_text(const char *path, size_t *length, struct diag *diag)
{
	char *text = NULL;
	ssize_t n = 1;
	int fd = open_regular(path, diag);

	if (fd < 0)
		return NULL;
	*length = 0;
	text = malloc(CONFIG_MAX_OCTETS);
	while (text != NULL && n != 0 && *length < CONFIG_MAX_OCTETS) {
		n = read(fd, text + *length, CONFIG_MAX_OCTETS - *length);
		if (n < 0 && errno != EINTR)
			break;
		*length += n > 0 ? (size_t)n : 0;
	}
	if (text == NULL || n < 0) {
		diag_add(diag, DIAG_ERROR, path, 0, "cannot be read: %s",
		    strerror(errno));
		free(text);
		text = NULL;
	}
	close(fd);
	return text;
}

/* libconfig's tree of text that ends with a NUL. */
static bool
parse_tree(config_t *tree, const char *path, const char *text,
    struct diag *diag)
{
	if (config_read_string(tree, text) == CONFIG_TRUE)
		return true;
	config_syntax_explain(path, text, (unsigned int)config_error_line(tree),
	    config_error_text(tree), diag);
	return false;
}

/* Settings that stand in no file of the user's. */
static void
forget_lines(config_setting_t *setting)
{
	int count = config_setting_length(setting);

	setting->line = 0;
	for (int i = 0; i < count; i++)
		forget_lines(config_setting_get_elem(setting,
		    (unsigned int)i));
}

static bool
parse_defaults(config_t *tree, struct diag *diag)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool fine = false;

	if (out != NULL) {
		config_print_defaults(out);
		if (fclose(out) == 0)
			fine = parse_tree(tree, "defaults", text, diag);
		if (fine)
			forget_lines(config_root_setting(tree));
	} else
		diag_add(diag, DIAG_ERROR, NULL, 0, "out of memory");
	free(text);
	return fine;
}

/* "number, workers, maxlen": the keys that may stand below prefix. */
static const char *
known_keys(const char *prefix, char buf[static CONFIG_TEXT_SIZE])
{
	size_t n = 0, skip = strlen(prefix), last = 0;
	const char *before = "";

	buf[0] = '\0';
	for (size_t i = 0; i < config_option_count; i++) {
		const char *key = config_options[i].path + skip;
		size_t length;

		if (strncmp(config_options[i].path, prefix, skip) != 0)
			continue;
		length = strcspn(key, ".[");
		/* Options of one group stand together. */
		if (length == last && strncmp(before, key, length) == 0)
			continue;
		before = key;
		last = length;
		n += (size_t)snprintf(buf + n, CONFIG_TEXT_SIZE - n, "%s%.*s",
		    n == 0 ? "" : ", ", (int)length, key);
		if (n >= CONFIG_TEXT_SIZE)
			break;
	}
	return buf;
}

static bool
is_group_path(const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < config_option_count; i++)
		if (strncmp(config_options[i].path, path, length) == 0 &&
		    config_options[i].path[length] == '.')
			return true;
	return false;
}

/*
 * What may have been meant: an option that stands here, else the one of that
 * very name in another group.
 */
static const char *
meant(const char *prefix, const char *name, char buf[static CONFIG_TEXT_SIZE])
{
	size_t skip = strlen(prefix);
	char text[SUGGEST_TEXT];
	struct suggest s;

	suggest_start(&s, name);
	for (size_t i = 0; i < config_option_count; i++) {
		const char *key = config_options[i].path + skip;

		if (strncmp(config_options[i].path, prefix, skip) == 0)
			suggest_offer(&s, key, strcspn(key, ".["));
	}
	(void)snprintf(buf, CONFIG_TEXT_SIZE, "%s", suggest_text(&s, text));
	for (size_t i = 0; buf[0] == '\0' && i < config_option_count; i++) {
		const char *path = config_options[i].path;
		const char *dot = strrchr(path, '.');

		if (dot != NULL && strcmp(dot + 1, name) == 0)
			(void)snprintf(buf, CONFIG_TEXT_SIZE,
			    ", did you mean %s?", path);
	}
	return buf;
}

static void
report_unknown(const struct config_load *load, const config_setting_t *setting)
{
	char pattern[CONFIG_TEXT_SIZE], keys[CONFIG_TEXT_SIZE], *dot;
	char guess[CONFIG_TEXT_SIZE];

	config_setting_path(setting, true, pattern);
	dot = strrchr(pattern, '.');
	if (dot != NULL)
		dot[1] = '\0';
	else
		pattern[0] = '\0';
	(void)meant(pattern, setting->name != NULL ? setting->name : "", guess);
	config_wrong(load, setting, "unknown option%s known here: %s",
	    guess[0] != '\0' ? guess : ";", known_keys(pattern, keys));
}

/*
 * Refuses what is in the file and not in the table of options.  Goes down only
 * where the table does, so never deep.
 */
static void
check_keys(const struct config_load *load, const config_setting_t *group)
{
	char path[CONFIG_TEXT_SIZE];
	int count = config_setting_length(group);

	for (int i = 0; i < count; i++) {
		const config_setting_t *s = config_setting_get_elem(group,
		    (unsigned int)i);
		const struct config_option *option;

		config_setting_path(s, true, path);
		option = config_option_find(path);
		if (option != NULL) {
			if ((option->types & OPTION_GROUP) != 0 &&
			    !option->any_keys && config_setting_is_list(s))
				check_keys(load, s);
		} else if (!is_group_path(path))
			report_unknown(load, s);
		else if (config_setting_is_group(s))
			check_keys(load, s);
		else if (s->name != NULL)
			config_wrong(load, s, "expected a group { ... }");
	}
}

static void
read_options(const struct config_load *load, const config_t *file,
    const config_t *defaults)
{
	for (size_t i = 0; i < config_option_count; i++) {
		const struct config_option *option = &config_options[i];
		const config_setting_t *value;

		if (strchr(option->path, '[') != NULL)
			continue;
		value = config_lookup(file, option->path);
		if (value == NULL)
			value = config_lookup(defaults, option->path);
		config_option_read(load, option, value, load->config);
	}
}

/* Makes the path absolute: a daemon may change its directory. */
static char *
absolute_path(const char *path)
{
	char *directory, *result = NULL;

	if (path[0] == '/')
		return strdup(path);
	directory = getcwd(NULL, 0);
	if (directory != NULL && asprintf(&result, "%s/%s", directory,
	    path) < 0)
		result = NULL;
	free(directory);
	return result;
}

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
		NULL, diag, path, config_options, config_option_count,
	};
	config_t file, defaults;
	size_t errors = diag->errors, warnings = diag->warnings;
	char *copy = NULL;

	*config = NULL;
	config_init(&file);
	config_init(&defaults);
	load.config = calloc(1, sizeof(*load.config));
	copy = strndup(text, length);
	if (load.config != NULL)
		load.config->path = absolute_path(path);
	if (load.config == NULL || load.config->path == NULL || copy == NULL)
		diag_add(diag, DIAG_ERROR, path, 0, "cannot be read: %s",
		    strerror(errno));
	else if (config_syntax_check(path, text, length, diag) &&
	    parse_tree(&file, path, copy, diag) &&
	    parse_defaults(&defaults, diag)) {
		check_keys(&load, config_root_setting(&file));
		read_options(&load, &file, &defaults);
		load.config->mesh.tcp = load.config->capture.tcp;
		load.config->machine_search =
		    complete_search(&load.config->mesh);
	}
	config_destroy(&defaults);
	config_destroy(&file);
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

int
config_load(struct config **config, const char *path, struct diag *diag)
{
	size_t length = 0;
	char *text;
	int error;

	*config = NULL;
	text = read_text(path, &length, diag);
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
	free(bypass->classids);
	free(bypass->destinations);
}

void
config_free(struct config *config)
{
	if (config == NULL)
		return;
	free_bypass(&config->capture.bypass);
	free(config->capture.nameservers);
	mesh_clear(&config->mesh);
	for (size_t i = 0; i < config->audit_count; i++)
		free(config->audits[i].path);
	free(config->audits);
	free(config->path);
	free(config->text);
	free(config->run_dir);
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

		if (option->reload || same_value(option, running, next))
			continue;
		diag_add(diag, DIAG_ERROR, next->path, 0,
		    "%s has changed, which needs a restart: put it back, or "
		    "restart nfdnsd", option->path);
		error = -EINVAL;
	}
	return error;
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

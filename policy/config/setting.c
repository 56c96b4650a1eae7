/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/setting.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config/config.h"

/* Writes the path of setting's parents and its own; returns its length. */
static size_t
put_path(const config_setting_t *setting, bool pattern, char *buf, size_t size)
{
	const config_setting_t *parent = config_setting_parent(setting);
	size_t n = 0;
	int more;

	if (parent == NULL)
		return 0;
	n = put_path(parent, pattern, buf, size);
	if (setting->name != NULL)
		more = snprintf(buf + n, size - n, "%s%.80s", n > 0 ? "." : "",
		    setting->name);
	else if (pattern)
		more = snprintf(buf + n, size - n, "[]");
	else
		more = snprintf(buf + n, size - n, "[%d]",
		    config_setting_index(setting));
	if (more < 0)
		return n;
	return n + (size_t)more < size ? n + (size_t)more : size - 1;
}

const char *
config_setting_path(const config_setting_t *setting, bool pattern,
    char buf[static CONFIG_TEXT_SIZE])
{
	buf[0] = '\0';
	put_path(setting, pattern, buf, CONFIG_TEXT_SIZE);
	return buf;
}

const char *
config_place(const char *file, unsigned int line, const char *here,
    char buf[static CONFIG_TEXT_SIZE])
{
	const bool other = file != NULL && here != NULL &&
	    strcmp(file, here) != 0;

	(void)snprintf(buf, CONFIG_TEXT_SIZE, "%s%s%u", other ? file : "line ",
	    other ? ":" : "", line);
	return buf;
}

static void __attribute__((format(printf, 4, 0)))
add_about(const struct config_load *load, enum diag_level level,
    const config_setting_t *value, const char *format, va_list arguments)
{
	char path[CONFIG_TEXT_SIZE], text[2 * CONFIG_TEXT_SIZE];

	if (vsnprintf(text, sizeof(text), format, arguments) < 0)
		text[0] = '\0';
	diag_add(load->diag, level, load->file,
	    config_setting_source_line(value), "%s: %s",
	    config_setting_path(value, false, path), text);
}

void
config_wrong(const struct config_load *load, const config_setting_t *value,
    const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_about(load, DIAG_ERROR, value, format, arguments);
	va_end(arguments);
}

void
config_absent(const struct config_load *load, const config_setting_t *value,
    const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_about(load, DIAG_WARNING, value, format, arguments);
	va_end(arguments);
	load->config->absent++;
}

/* What stands in the file, in short. */
static const char *
found_text(const config_setting_t *value, char buf[static CONFIG_TEXT_SIZE])
{
	const char *text;

	switch (config_setting_type(value)) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		snprintf(buf, CONFIG_TEXT_SIZE, "%lld",
		    config_setting_get_int64(value));
		return buf;
	case CONFIG_TYPE_FLOAT:
		snprintf(buf, CONFIG_TEXT_SIZE, "%g",
		    config_setting_get_float(value));
		return buf;
	case CONFIG_TYPE_STRING:
		text = config_setting_get_string(value);
		snprintf(buf, CONFIG_TEXT_SIZE, "\"%.100s%s\"", text,
		    strlen(text) > 100 ? "..." : "");
		return buf;
	case CONFIG_TYPE_BOOL:
		return config_setting_get_bool(value) ? "true" : "false";
	case CONFIG_TYPE_GROUP:
		return "a group { ... }";
	default:
		return "a list";
	}
}

const char *
config_option_expected(const struct config_option *option,
    char buf[static CONFIG_TEXT_SIZE])
{
	size_t n = 0;

	if (option->allowed != NULL)
		return option->allowed;
	if ((option->types & OPTION_BOOLEAN) != 0)
		return "true or false";
	if (option->choices == NULL) {
		snprintf(buf, CONFIG_TEXT_SIZE,
		    "a whole number from %lld to %lld", option->min,
		    option->max);
		return buf;
	}
	buf[0] = '\0';
	for (size_t i = 0; option->choices[i] != NULL; i++) {
		const char *before = i == 0 ? "" :
		    option->choices[i + 1] == NULL ? " or " : ", ";
		int more = snprintf(buf + n, CONFIG_TEXT_SIZE - n, "%s\"%s\"",
		    before, option->choices[i]);

		if (more < 0 || (size_t)more >= CONFIG_TEXT_SIZE - n)
			break;
		n += (size_t)more;
	}
	return buf;
}

void
config_expected(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value)
{
	char found[CONFIG_TEXT_SIZE], expected[CONFIG_TEXT_SIZE];
	bool list = option->list && !config_setting_is_array(value) &&
	    !config_setting_is_list(value) &&
	    config_setting_parent(value) != NULL && value->name != NULL;

	config_wrong(load, value, "found %s, expected %s%s",
	    found_text(value, found), list ? "a list [ ... ] or ( ... ): " : "",
	    config_option_expected(option, expected));
}

static unsigned char
type_of(const config_setting_t *value)
{
	switch (config_setting_type(value)) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		return OPTION_INTEGER;
	case CONFIG_TYPE_STRING:
		return OPTION_STRING;
	case CONFIG_TYPE_BOOL:
		return OPTION_BOOLEAN;
	case CONFIG_TYPE_GROUP:
		return OPTION_GROUP;
	case CONFIG_TYPE_ARRAY:
	case CONFIG_TYPE_LIST:
		return OPTION_LIST;
	default:
		return 0;
	}
}

/* Takes the "!" off an item that has one. */
static bool
is_negated(const struct config_option *option, config_setting_t *item)
{
	char *rest;

	if (option->negated == 0 || type_of(item) != OPTION_STRING ||
	    config_setting_get_string(item)[0] != '!')
		return false;
	rest = strdup(config_setting_get_string(item) + 1);
	(void)config_setting_set_string(item, rest != NULL ? rest : "");
	free(rest);
	return true;
}

static void
read_list(const struct config_load *load, const struct config_option *option,
    const config_setting_t *list, void *to)
{
	const int most = option->items > 0 ? option->items : CONFIG_MAX_ITEMS;
	int count = config_setting_length(list);

	if (count > most) {
		config_wrong(load, list, "%d items; at most %d are allowed",
		    count, most);
		return;
	}
	if (count == 0 && option->if_empty != NULL)
		config_wrong(load, list, "empty, so that %s; expected %s",
		    option->if_empty, option->allowed);
	for (int i = 0; i < count; i++) {
		config_setting_t *item = config_setting_get_elem(list,
		    (unsigned int)i);

		if ((type_of(item) & option->types) == 0)
			config_expected(load, option, item);
		else
			option->read(load, option, item, (char *)to +
			    (is_negated(option, item) ? option->negated : 0));
	}
}

void
config_option_read(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value,
    void *base)
{
	void *to = (char *)base + option->offset;

	if (option->list && (config_setting_is_array(value) ||
	    config_setting_is_list(value)))
		read_list(load, option, value, to);
	else if (option->list || (type_of(value) & option->types) == 0)
		config_expected(load, option, value);
	else
		option->read(load, option, value, to);
}

/* The setting at "node.ip" below a group; NULL if there is none. */
static const config_setting_t *
member_at(const config_setting_t *group, const char *path)
{
	const config_setting_t *at = group;
	char key[CONFIG_TEXT_SIZE];

	do {
		const size_t length = strcspn(path, ".");

		(void)snprintf(key, sizeof(key), "%.*s", (int)length, path);
		at = config_setting_get_member(at, key);
		if (path[length] == '\0')
			return at;
		path += length + 1;
	} while (at != NULL && config_setting_is_group(at));
	return NULL;
}

void
config_option_read_members(const struct config_load *load, const char *prefix,
    const config_setting_t *group, void *item)
{
	size_t skip = strlen(prefix);

	for (size_t i = 0; i < load->option_count; i++) {
		const struct config_option *option = &load->options[i];
		const config_setting_t *value;

		if (strncmp(option->path, prefix, skip) != 0)
			continue;
		value = member_at(group, option->path + skip);
		if (value != NULL)
			config_option_read(load, option, value, item);
		else if (option->required)
			config_wrong(load, group, "\"%s\" is missing",
			    option->path + skip);
	}
}

const struct config_option *
config_option_among(const struct config_load *load, const char *path)
{
	for (size_t i = 0; i < load->option_count; i++)
		if (strcmp(load->options[i].path, path) == 0)
			return &load->options[i];
	return NULL;
}

void *
config_append(const struct config_load *load, void *array, size_t *count,
    size_t size)
{
	char *items, *grown;

	memcpy(&items, array, sizeof(items));
	grown = reallocarray(items, *count + 1, size);
	if (grown == NULL) {
		diag_add(load->diag, DIAG_ERROR, load->file, 0,
		    "out of memory");
		return NULL;
	}
	memcpy(array, &grown, sizeof(grown));
	return memset(grown + (*count)++ * size, 0, size);
}

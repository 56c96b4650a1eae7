/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How values are checked and reported, and the readers of the plain ones. */
#include "policy/config/option.h"

#include <assert.h>
#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_DIR_MAX 200

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

void
config_wrong(const struct config_load *load, const config_setting_t *value,
    const char *format, ...)
{
	char path[CONFIG_TEXT_SIZE], text[2 * CONFIG_TEXT_SIZE];
	va_list arguments;

	va_start(arguments, format);
	if (vsnprintf(text, sizeof(text), format, arguments) < 0)
		text[0] = '\0';
	va_end(arguments);
	diag_add(load->diag, DIAG_ERROR, load->file,
	    config_setting_source_line(value), "%s: %s",
	    config_setting_path(value, false, path), text);
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
	default:
		return 0;
	}
}

static void
read_list(const struct config_load *load, const struct config_option *option,
    const config_setting_t *list, void *to)
{
	int count = config_setting_length(list);

	if (count > CONFIG_MAX_ITEMS) {
		config_wrong(load, list, "%d items; at most %d are allowed",
		    count, CONFIG_MAX_ITEMS);
		return;
	}
	if (option->read == config_read_nameservers && count == 0)
		config_wrong(load, list, "empty, so that no question would be "
		    "looked at; expected %s", option->allowed);
	for (int i = 0; i < count; i++) {
		const config_setting_t *item = config_setting_get_elem(list,
		    (unsigned int)i);

		if ((type_of(item) & option->types) == 0)
			config_expected(load, option, item);
		else
			option->read(load, option, item, to);
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

void
config_option_read_members(const struct config_load *load, const char *prefix,
    const config_setting_t *group, void *item)
{
	size_t skip = strlen(prefix);

	for (size_t i = 0; i < config_option_count; i++) {
		const struct config_option *option = &config_options[i];
		const config_setting_t *value;

		if (strncmp(option->path, prefix, skip) != 0)
			continue;
		value = config_setting_get_member(group, option->path + skip);
		if (value != NULL)
			config_option_read(load, option, value, item);
		else if (option->required)
			config_wrong(load, group, "\"%s\" is missing",
			    option->path + skip);
	}
}

void *
config_append(const struct config_load *load, void *array, size_t *count,
    size_t size)
{
	void *grown = reallocarray(array, *count + 1, size);

	if (grown == NULL) {
		diag_add(load->diag, DIAG_ERROR, load->file, 0,
		    "out of memory");
		return NULL;
	}
	memset((char *)grown + *count * size, 0, size);
	(*count)++;
	return grown;
}

bool
config_number_from_text(const char *text, uint32_t *number)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	const char *allowed = hex ? "0123456789abcdefABCDEF" : "0123456789";
	unsigned long long value;

	if (digits[0] == '\0' || digits[strspn(digits, allowed)] != '\0')
		return false;
	errno = 0;
	value = strtoull(digits, NULL, hex ? 16 : 10);
	if (errno != 0 || value > UINT32_MAX)
		return false;
	*number = (uint32_t)value;
	return true;
}

/* Stores into a field of any integer type. */
static void
store(const struct config_option *option, void *to, long long value)
{
	uint8_t u8 = (uint8_t)value;
	uint16_t u16 = (uint16_t)value;
	uint32_t u32 = (uint32_t)value;

	switch (option->size) {
	case 0:
		break;
	case sizeof(u8):
		memcpy(to, &u8, sizeof(u8));
		break;
	case sizeof(u16):
		memcpy(to, &u16, sizeof(u16));
		break;
	default:
		assert(option->size == sizeof(u32));
		memcpy(to, &u32, sizeof(u32));
	}
}

void
config_read_number(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	long long number = config_setting_get_int64(value);

	if (number < option->min || number > option->max)
		config_expected(load, option, value);
	else
		store(option, to, number);
}

void
config_read_boolean(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	(void)load;
	store(option, to, config_setting_get_bool(value) != 0);
}

void
config_read_choice(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const char *text = config_setting_get_string(value);

	for (int i = 0; option->choices[i] != NULL; i++)
		if (strcmp(option->choices[i], text) == 0) {
			store(option, to, i);
			return;
		}
	config_expected(load, option, value);
}

void
config_read_log_level(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	if (log_level_from_text(to, config_setting_get_string(value)) < 0)
		config_expected(load, option, value);
}

/* One for each CPU that is on line, and no more than there is room for. */
static long long
workers_for_machine(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (cpus < 1)
		return 1;
	return cpus > CONFIG_MAX_WORKERS ? CONFIG_MAX_WORKERS : cpus;
}

void
config_read_workers(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	unsigned int first = load->config->queue.number;
	long long count;

	if (config_setting_type(value) != CONFIG_TYPE_STRING)
		count = config_setting_get_int64(value);
	else if (strcmp(config_setting_get_string(value), "auto") == 0)
		count = workers_for_machine();
	else
		count = 0;
	if (count < 1 || count > CONFIG_MAX_WORKERS)
		config_expected(load, option, value);
	else if (first + count - 1 > UINT16_MAX)
		config_wrong(load, value, "%lld queues from number %u on pass "
		    "65535; choose a lower queue.number", count, first);
	else
		store(option, to, count);
}

static void
fdstore_text(const struct config_load *load, void *to, char *text)
{
	char **field = to;

	if (text == NULL)
		diag_add(load->diag, DIAG_ERROR, load->file, 0,
		    "out of memory");
	*field = text;
}

void
config_read_directory(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const char *text = config_setting_get_string(value);

	if (text[0] != '/' || strlen(text) > RUN_DIR_MAX)
		config_expected(load, option, value);
	else
		fdstore_text(load, to, strdup(text));
}

/* Relative paths are meant from the directory of the configuration file. */
void
config_read_path(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const char *text = config_setting_get_string(value);
	const char *file = load->config->path;
	size_t directory = (size_t)(strrchr(file, '/') - file);
	char *path = NULL;

	if (text[0] == '\0') {
		config_expected(load, option, value);
		return;
	}
	if (text[0] == '/')
		path = strdup(text);
	else if (asprintf(&path, "%.*s/%s", (int)directory, file, text) < 0)
		path = NULL;
	fdstore_text(load, to, path);
}

/* A domain name, lower-cased; the root and wildcards are none of ours. */
void
config_read_name(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const char *text = config_setting_get_string(value);
	struct dns_name *name = to;
	int error = name_from_text(name, text, strlen(text));

	if (error == -ENAMETOOLONG)
		config_wrong(load, value, "a label of this name is longer than "
		    "63 octets, or the name longer than 255");
	else if (error < 0 || name->labels == 0 ||
	    memcmp(name->octets, "\1*", 2) == 0)
		config_expected(load, option, value);
	else
		name_lower(name);
}

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

/* A text of so many characters at most, and of these. */
static void
read_word(const struct config_load *load, const struct config_option *option,
    const config_setting_t *value, void *to, size_t max, const char *allowed)
{
	const char *text = config_setting_get_string(value);
	size_t length = strlen(text);

	if (length < 1 || length > max || strspn(text, allowed) != length)
		config_expected(load, option, value);
	else
		fdstore_text(load, to, strdup(text));
}

void
config_read_namespace(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	read_word(load, option, value, to, NAME_MAX_LABEL, WORD);
}

/* Of a cluster or a network: a name of its own, a path in a cloud, or none. */
void
config_read_label(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	if (config_setting_get_string(value)[0] != '\0')
		read_word(load, option, value, to, 253, WORD "./");
}

/* The number in the value, if it is one, as a user number. */
static bool
user_number(const config_setting_t *value, uint32_t *number)
{
	long long wide;

	if (config_setting_type(value) == CONFIG_TYPE_STRING)
		return config_number_from_text(config_setting_get_string(value),
		    number) && *number != (uid_t)-1;
	wide = config_setting_get_int64(value);
	*number = (uint32_t)wide;
	return wide >= 0 && wide < UINT32_MAX;
}

void
config_read_user(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct config *config = load->config;
	const struct passwd *entry;
	uint32_t number;
	char *text;

	if (user_number(value, &number)) {
		entry = getpwuid(number);
		config->uid = number;
		config->gid = entry != NULL ? entry->pw_gid : number;
		if (asprintf(&text, "%u", number) < 0)
			text = NULL;
	} else if (config_setting_type(value) != CONFIG_TYPE_STRING) {
		config_expected(load, option, value);
		return;
	} else {
		text = strdup(config_setting_get_string(value));
		entry = text != NULL ? getpwnam(text) : NULL;
		if (text != NULL && entry == NULL) {
			config_wrong(load, value, "there is no user \"%.60s\"; "
			    "create it (useradd --system --no-create-home "
			    "--shell /usr/sbin/nologin %.60s, or "
			    "systemd-sysusers) or name another",
			    text, text);
			free(text);
			return;
		}
		if (entry != NULL) {
			config->uid = entry->pw_uid;
			config->gid = entry->pw_gid;
		}
	}
	fdstore_text(load, to, text);
	config_add_user(load, config->uid);
	if (text != NULL && config->uid == 0)
		diag_add(load->diag, DIAG_WARNING, load->file,
		    config_setting_source_line(value), "user: questions of "
		    "root are bypassed, since the worker is root's; give it "
		    "a user of its own");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/setting.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolver/dns/name.h"
#include "resolver/idn.h"
#include "resolver/sources/feed_file.h"

#define RUN_DIR_MAX 200

const char *const config_log_levels[] = { "error", "warning", "notice", "info",
	"debug", NULL };

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
	uint64_t u64 = (uint64_t)value;

	switch (option->size) {
	case 0:
		break;
	case sizeof(u8):
		memcpy(to, &u8, sizeof(u8));
		break;
	case sizeof(u16):
		memcpy(to, &u16, sizeof(u16));
		break;
	case sizeof(u64):
		memcpy(to, &u64, sizeof(u64));
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

#define WORKERS_AUTO	4	/* at most: one answers some 100,000 a second */

void
config_read_workers(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	unsigned int first = load->config->queue.number;
	long long count;

	if (config_setting_type(value) != CONFIG_TYPE_STRING) {
		count = config_setting_get_int64(value);
	} else if (strcmp(config_setting_get_string(value), "auto") == 0) {
		long cpus = sysconf(_SC_NPROCESSORS_ONLN);

		/* One for each CPU that is on line, up to a few. */
		if (cpus < 1)
			count = 1;
		else
			count = cpus > WORKERS_AUTO ? WORKERS_AUTO : cpus;
	} else {
		count = 0;
	}
	if (count < 1 || count > CONFIG_MAX_WORKERS)
		config_expected(load, option, value);
	else if (first + count - 1 > UINT16_MAX)
		config_wrong(load, value, "%lld queues from number %u on pass "
		    "65535; choose a lower queue.number", count, first);
	else
		store(option, to, count);
}

void
config_store_text(const struct config_load *load, void *to, char *text)
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
		config_store_text(load, to, strdup(text));
}

/* Relative paths are meant from the directory of the configuration file. */
void
config_read_path(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const char *text = config_setting_get_string(value);
	const char *file = load->path;
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
	config_store_text(load, to, path);
}

/* A domain name, lower-cased; the root and wildcards are none of ours. */
void
config_read_name(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const char *text = config_setting_get_string(value);
	struct dns_name *name = to;
	int error = idn_name_from_text(name, text, strlen(text));

	if (error == -ENAMETOOLONG)
		config_wrong(load, value, "a label of this name is longer than "
		    "63 octets, or the name longer than 255");
	else if (error == -EILSEQ)
		config_wrong(load, value, "found \"%.100s\", which "
		    IDN_REFUSED, text);
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
		config_store_text(load, to, strdup(text));
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

/* It becomes the name of files. */
void
config_read_feed_name(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const char *text = config_setting_get_string(value);

	if (!feed_file_name_is_valid(text))
		config_expected(load, option, value);
	else
		config_store_text(load, to, strdup(text));
}

void
config_append_text(const struct config_load *load, char ***texts,
    size_t *count, const char *text)
{
	char **item = config_append(load, texts, count, sizeof(*item));

	if (item != NULL)
		config_store_text(load, item, strdup(text));
}

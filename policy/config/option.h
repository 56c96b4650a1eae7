/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of options, and how a value of the file becomes one of struct
 * config.  For config*.c and their test only.
 */
#ifndef NFDNS_POLICY_CONFIG_OPTION_H
#define NFDNS_POLICY_CONFIG_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include <libconfig.h>

#include "policy/config/config.h"
#include "resolver/text/diag.h"

/* What a reader works on. */
struct config_load {
	struct config *config;
	struct diag *diag;
	const char *file;		/* for messages */
};

/* Types of a value (of each item, in a list); several may be allowed. */
#define OPTION_STRING	0x01
#define OPTION_INTEGER	0x02
#define OPTION_BOOLEAN	0x04
#define OPTION_GROUP	0x08

struct config_option;

/*
 * Checks a value of the right type, a list's items one by one, and stores it
 * at "to".  What is wrong goes to load->diag.
 */
typedef void config_read_value(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value,
    void *to);

/*
 * One option.  The path of a member of a list's groups has "[]" in it
 * ("audit[].path"); its value is stored in the item, not in struct config, and
 * its default is what an item of zeros says.
 */
struct config_option {
	const char *path;
	const char *fallback;	/* the default as libconfig text; NULL: none */
	const char *about;	/* one sentence */
	const char *allowed;	/* in words; NULL: made from what follows */
	const char *const *choices;	/* NULL-terminated */
	long long min, max;
	config_read_value *read;
	size_t offset, size;	/* size 0: checked, but kept nowhere */
	unsigned char types;
	bool list;
	bool required;		/* a member that each item must have */
	bool fixed;		/* until a restart: config_check_reload() */
};

extern const struct config_option config_options[];
extern const size_t config_option_count;

/* NULL if there is none.  path has "[]" for an item's number. */
const struct config_option *config_option_find(const char *path);

#define CONFIG_TEXT_SIZE 512

/* "a whole number from 0 to 65535"; lives as long as buf. */
const char *config_option_expected(const struct config_option *option,
    char buf[static CONFIG_TEXT_SIZE]);

/*
 * Checks the type of "value" and reads it; base is what the option's offset is
 * counted from.
 */
void config_option_read(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value,
    void *base);

/* Reads the members of one group of a list: "prefix" is "audit[].". */
void config_option_read_members(const struct config_load *load,
    const char *prefix, const config_setting_t *group, void *item);

/* "mesh.tables[1].format", with "[]" for the number if "pattern". */
const char *config_setting_path(const config_setting_t *setting, bool pattern,
    char buf[static CONFIG_TEXT_SIZE]);

/* "PATH: found X, expected Y". */
void config_expected(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value);

/* "PATH: text". */
void config_wrong(const struct config_load *load,
    const config_setting_t *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Readers: config_value.c, */
config_read_value config_read_number, config_read_boolean, config_read_choice,
    config_read_workers, config_read_log_level, config_read_directory,
    config_read_path, config_read_name, config_read_namespace,
    config_read_label,
    config_read_user;
/* config_capture.c, */
config_read_value config_read_mark_mask, config_read_users, config_read_groups,
    config_read_marks, config_read_cgroups, config_read_classids,
    config_read_prefixes, config_read_nameservers;
/* config_mesh.c. */
config_read_value config_read_search, config_read_tables, config_read_format,
    config_read_origin, config_read_namespaces, config_read_addresses,
    config_read_zones, config_read_audits,
    config_read_policy;

/* Adds a user whose sockets are bypassed, unless it is in already. */
void config_add_user(const struct config_load *load, uid_t uid);

/*
 * Grows an array by one item of zeros.  Returns the new array; or NULL, after
 * an error in load->diag, and the old one stays as it was.
 */
void *config_append(const struct config_load *load, void *array, size_t *count,
    size_t size);

/* A 32-bit number, decimal or 0x...; nothing may follow it. */
bool config_number_from_text(const char *text, uint32_t *number);

#endif

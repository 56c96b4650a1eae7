/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One option as a row, and how a setting of the file is read by its row: type,
 * list, members, and the messages about it.  What each value means is left to
 * the row's reader (value.c, capture.h); the rows are in option.c.
 */
#ifndef NFDNS_POLICY_CONFIG_SETTING_H
#define NFDNS_POLICY_CONFIG_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <libconfig.h>

#include "policy/config/config.h"
#include "resolver/text/diag.h"

struct config_option;

/* What a reader works on. */
struct config_load {
	struct config *config;		/* NULL: the file is not nfdnsd.conf */
	void *base;			/* of the rows' offsets */
	struct diag *diag;
	const char *file;		/* for messages */
	const char *path;		/* of the file, absolute */
	const struct config_option *options;	/* all rows */
	size_t option_count;
	/* What goes together, once all options are read; NULL: nothing to check. */
	void (*check)(const struct config_load *load,
	    const config_setting_t *root);
};

/* Types of a value (of each item, in a list); several may be allowed. */
#define OPTION_STRING	0x01
#define OPTION_INTEGER	0x02
#define OPTION_BOOLEAN	0x04
#define OPTION_GROUP	0x08
#define OPTION_LIST	0x10	/* as a whole, for the reader; cf. "list" */

/* What is stored at the row's offset: how two configurations are compared. */
enum config_kind {
	OPTION_OCTETS,		/* a number or an enum: octet for octet */
	OPTION_TEXT,		/* char * */
	OPTION_USER,		/* char *; its meaning is config's uid and gid */
};

/*
 * Checks a value of the right type, a list's items one by one, and stores it
 * at "to".  Errors go to load->diag.
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
	const char *if_empty;	/* NULL: an empty list is allowed; else why not */
	long long min, max;
	config_read_value *read;
	size_t offset, size;	/* size 0: checked, but not stored */
	size_t negated;		/* of a list, whose items may begin with "!": these
				 * are stored so many octets behind the others */
	enum config_kind kind;
	int items;		/* of a list, at most; 0: CONFIG_MAX_ITEMS */
	unsigned char types;
	bool list;
	bool required;		/* a member that each item must have */
	bool any_keys;		/* groups with keys that have no rows */
	bool about_allows;	/* "about" names the allowed values */
	/*
	 * A reload changes it, or with another worker; without both, a change needs
	 * a restart and config_check_reload() refuses it.  A member has what its
	 * list has.
	 */
	bool reload, worker;
};

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

/* The row of that path, "[]" for an item's number; NULL if there is none. */
const struct config_option *config_option_among(const struct config_load *load,
    const char *path);

/*
 * All rows with their defaults and what they are for, as the text of a file
 * that has every default.
 */
void config_option_print(const struct config_option *options, size_t count,
    FILE *out);

/*
 * Reads the members of one group of a list, "prefix" is "audit[].", and those
 * of groups in it.
 */
void config_option_read_members(const struct config_load *load,
    const char *prefix, const config_setting_t *group, void *item);

/* "mesh.tables[1].format", with "[]" for the number if "pattern". */
const char *config_setting_path(const config_setting_t *setting, bool pattern,
    char buf[static CONFIG_TEXT_SIZE]);

/* "line 7", or "FILE:7" if that is another file than "here". */
const char *config_place(const char *file, unsigned int line, const char *here,
    char buf[static CONFIG_TEXT_SIZE]);

/* "PATH: found X, expected Y". */
void config_expected(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value);

/* "PATH: text". */
void config_wrong(const struct config_load *load,
    const config_setting_t *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The same as a warning: the configuration is valid, but the machine lacks what
 * it names, which config->absent counts: it is looked for again.
 */
void config_absent(const struct config_load *load,
    const config_setting_t *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Grows an array, whose pointer is at "array", by one item of zeros.  Returns the
 * item; or NULL, after an error in load->diag, and the array stays as it was.
 */
void *config_append(const struct config_load *load, void *array, size_t *count,
    size_t size);

/* The same of an array of texts: a copy of this one. */
void config_append_text(const struct config_load *load, char ***texts,
    size_t *count, const char *text);

/* Readers of single values: numbers, choices, paths, names. */

config_read_value config_read_number, config_read_boolean, config_read_choice,
    config_read_workers, config_read_log_level, config_read_directory,
    config_read_path, config_read_name, config_read_namespace,
    config_read_label, config_read_feed_name;

/* What config_read_log_level() accepts, then NULL. */
extern const char *const config_log_levels[];

/* A 32-bit number, decimal or 0x...; nothing may follow it. */
bool config_number_from_text(const char *text, uint32_t *number);

/* Stores a text of malloc(3) at "to"; NULL is an error in load->diag. */
void config_store_text(const struct config_load *load, void *to, char *text);

/* How the rows of a table of options are written; its file includes this. */

#define IN(structure, member) \
	.offset = offsetof(struct structure, member), \
	.size = sizeof(((struct structure *)NULL)->member)

#define STRING		.types = OPTION_STRING
#define INTEGER		.types = OPTION_INTEGER
#define BOOLEAN		.types = OPTION_BOOLEAN, .read = config_read_boolean
#define STRINGS		.types = OPTION_STRING, .list = true
#define STRINGS_INTEGERS .types = OPTION_STRING | OPTION_INTEGER, .list = true
#define GROUPS		.types = OPTION_GROUP, .list = true
#define RANGE(low, high) .min = (low), .max = (high), .read = config_read_number
#define LABEL	"letters, digits, '-', '_', '.' and '/', at most 253"
#define CHOICE(texts)	.choices = (texts), .read = config_read_choice

/*
 * The table of all options: the one place that says which there are, what they
 * may be, their defaults, and whether a reload changes them.
 */

extern const struct config_option config_options[];
extern const size_t config_option_count;

/* NULL if there is none.  path has "[]" for an item's number. */
const struct config_option *config_option_find(const char *path);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feed.conf(5), the configuration of nfdns-feed(8): libconfig syntax and a
 * table of options, as nfdnsd.conf has (config.h).
 */
#ifndef NFDNS_POLICY_CONFIG_FEED_CONFIG_H
#define NFDNS_POLICY_CONFIG_FEED_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "policy/config/file.h"
#include "policy/config/setting.h"
#include "policy/log.h"
#include "resolver/feed/feed.h"
#include "resolver/text/diag.h"

#define FEED_CONFIG_DEFAULT_PATH "/etc/nfdns/feed.conf"
#define FEED_CONFIG_DIRECTORY	"feeds.d"	/* beside it, more files of feeds */
#define FEED_CONFIG_MAX_FEEDS 16
#define FEED_CONFIG_MAX_LABELS 64	/* of one node */

struct feeds_config {
	char *state_dir;		/* where tables are kept */
	char *run_dir;			/* where status files are */
	enum log_level log_level;
	struct feed_config *feeds;	/* no two of one name */
	size_t feed_count;		/* at least one */
};

extern const struct config_option feed_options[];
extern const size_t feed_option_count;

/*
 * Reads and checks the file, and those of feeds.d beside it, of which one of the two is
 * enough: every error at once into diag, each with file and
 * line.  Relative paths in it are taken from the directory that it stands in.
 * Files that it names are not opened.
 * Returns 0 and *config, or -EINVAL with at least one error in diag.
 */
int feed_config_load(struct feeds_config **config, const char *path,
    struct diag *diag) __attribute__((warn_unused_result));

/* Their texts alone.  0 or a negative errno, with an error in diag. */
int feed_config_read(struct config_text **texts, size_t *count,
    const char *path, struct diag *diag) __attribute__((warn_unused_result));

/* And what they say; takes them over.  As feed_config_load(). */
int feed_config_parse_all(struct feeds_config **config,
    struct config_text *texts, size_t count, struct diag *diag)
    __attribute__((warn_unused_result));

/* The same from the text of one file; path is for messages and relative paths. */
int feed_config_parse(struct feeds_config **config, const char *path,
    const char *text, size_t length, struct diag *diag)
    __attribute__((warn_unused_result));
void feed_config_free(struct feeds_config *config);

/* Whether the two say the same about one feed; lines do not matter. */
bool feed_config_same(const struct feed_config *a, const struct feed_config *b);

/* Every option with its default, as a file. */
void feed_config_print_defaults(FILE *out);

/* "xds", "kubernetes". */
const char *feed_config_type_name(enum feed_type type);

#endif

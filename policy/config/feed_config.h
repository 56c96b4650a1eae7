/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feed.conf(5), the configuration of nfdns-feed(8): one feed, whose name is that of the
 * file; libconfig syntax and a table of options, as nfdnsd.conf has (config.h).
 */
#ifndef NFDNS_POLICY_CONFIG_FEED_CONFIG_H
#define NFDNS_POLICY_CONFIG_FEED_CONFIG_H

#include <stdio.h>

#include "policy/config/setting.h"
#include "policy/log.h"
#include "resolver/feed/feed.h"
#include "resolver/text/diag.h"

#define FEED_CONFIG_MAX_LABELS 64	/* of one node */

struct feed_conf {
	char *state_dir;		/* where its table is kept */
	char *run_dir;			/* where its status file is */
	enum log_level log_level;
	struct feed_config feed;
};

extern const struct config_option feed_options[];
extern const size_t feed_option_count;

/*
 * Reads and checks the file NAME.conf: every error at once into diag, each with file
 * and line.  Relative paths in it are taken from the directory that it stands in.
 * Files that it names are not opened.
 * Returns 0 and *conf, or -EINVAL with at least one error in diag.
 */
int feed_conf_load(struct feed_conf **conf, const char *path,
    struct diag *diag) __attribute__((warn_unused_result));

/* The same from text; path is for the name, messages and relative paths. */
int feed_conf_parse(struct feed_conf **conf, const char *path,
    const char *text, size_t length, struct diag *diag)
    __attribute__((warn_unused_result));
void feed_conf_free(struct feed_conf *conf);

/* Every option with its default, as a file. */
void feed_conf_print_defaults(FILE *out);

/* "xds", "kubernetes". */
const char *feed_config_type_name(enum feed_type type);

#endif

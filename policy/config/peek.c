/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/config.h"

#include <sys/stat.h>
#include <stdio.h>
#include <string.h>

#include <libconfig.h>

#define DEFAULT_RUN_DIR	"/run/nfdns"

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
		value = DEFAULT_RUN_DIR;
	run_dir = strdup(value);
	config_destroy(&tree);
	return run_dir;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings that a reload may change and that the worker process reads, as
 * one flat value.  The supervisor takes them from the configuration and sends
 * them in a sealed memory file, beside the table (nfq/handover/generation_files.h).
 * All numbers are 32 bits wide, so the value has no padding.
 */
#ifndef NFDNS_POLICY_CONFIG_SETTINGS_H
#define NFDNS_POLICY_CONFIG_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "policy/config/config.h"
#include "policy/config/forward_settings.h"
#include "resolver/answer/settings.h"

/* Limits of TCP; the options "stream.*" of the same names.  _s: seconds. */
struct stream_settings {
	uint32_t connections;
	uint32_t per_client;
	uint32_t idle_s;
};

struct settings {
	uint32_t log_level;		/* enum log_level */
	struct answer_settings answers;
	struct stream_settings stream;
	struct forward_settings forward;
};

/* The settings of a configuration. */
void settings_of(struct settings *settings, const struct config *config);

/*
 * A sealed memory file with the settings, for settings_read().  The caller
 * closes it.  The descriptor or a negative errno.
 */
int settings_write(const struct settings *settings)
    __attribute__((warn_unused_result));

/*
 * Reads the settings from such a file, which stays open.  Returns NULL, or a
 * static text that says what is wrong: the file is not sealed or has another
 * size, as that of another version has; *settings is unchanged then.
 */
const char *settings_read(struct settings *settings, int fd)
    __attribute__((warn_unused_result));

#define SETTINGS_TEXT	500

/* "log.level 6, stream.connections 1024, ...": every setting by its option. */
const char *settings_text(const struct settings *settings,
    char text[static SETTINGS_TEXT]);

#endif

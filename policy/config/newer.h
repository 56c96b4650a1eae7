/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files differ from what was loaded: the configuration by its text, sources of
 * tables by the time of their last change, lists of rules if they changed after the
 * load.  A change within the second of the one before is not seen.
 */
#ifndef NFDNS_POLICY_CONFIG_NEWER_H
#define NFDNS_POLICY_CONFIG_NEWER_H

#include <stddef.h>
#include <stdint.h>

#include "policy/config/config.h"

/* "PATH", or "PATH (gone)"; owned. */
struct config_newer {
	char **files;
	size_t count;
};

/*
 * Of the configuration in use, whose tables were loaded at that time (CLOCK_REALTIME
 * seconds).  Tables of feeds are left out: they are loaded as they come.  0 or
 * -ENOMEM; free it in both cases.
 */
int config_newer(struct config_newer *newer, const struct config *config,
    int64_t loaded) __attribute__((warn_unused_result));
void config_newer_free(struct config_newer *newer);

#endif

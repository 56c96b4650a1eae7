/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of what only feed.conf has. */
#ifndef NFDNS_POLICY_CONFIG_FEED_VALUE_H
#define NFDNS_POLICY_CONFIG_FEED_VALUE_H

#include "policy/config/setting.h"

extern const char *const feed_types[];	/* by enum feed_type, then NULL */

config_read_value feed_read_server, feed_read_addresses, feed_read_address,
    feed_read_labels, feed_read_namespaces;

/* What goes together: struct config_load's "check". */
void feed_check(const struct config_load *load, const config_setting_t *root);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readers of the worker's user and of what is captured and bypassed: numbers
 * for the kernel.
 */
#ifndef NFDNS_POLICY_CONFIG_CAPTURE_H
#define NFDNS_POLICY_CONFIG_CAPTURE_H

#include "policy/config/setting.h"

config_read_value config_read_user, config_read_feed_user, config_read_mark_mask, config_read_users,
    config_read_groups, config_read_marks, config_read_cgroups,
    config_read_classids, config_read_prefixes, config_read_nameservers;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readers of the worker's user and of what is captured and bypassed: numbers
 * for the kernel.
 */
#ifndef NFDNS_POLICY_CONFIG_CAPTURE_H
#define NFDNS_POLICY_CONFIG_CAPTURE_H

#include "policy/config/setting.h"

config_read_value config_read_user, config_read_mark_mask, config_read_users,
    config_read_groups, config_read_marks, config_read_cgroups,
    config_read_prefixes, config_read_nameservers;

/* The user of nfdns-feed, if it exists: it asks for its control plane's own name. */
void config_bypass_feed(const struct config_load *load);

/* Where users and groups are looked for first (nsswitch.conf(5): "files"). */
#define CONFIG_PASSWD	"/etc/passwd"
#define CONFIG_GROUP	"/etc/group"

/*
 * The number of a user or group that is not there.  An empty list would be all,
 * so the list has the one number that no process can have (INVALID_UID in
 * include/linux/uidgid.h).  It is also that of a user who is not known: what
 * compares with a list takes it for nobody's.
 */
#define CONFIG_NOBODY	UINT32_MAX

/*
 * A user, a group, an address or prefix of a setting, by name or number.  False
 * after an error in load->diag.  A user or group that does not exist (yet) is a
 * warning, and has the number CONFIG_NOBODY.
 */
bool config_user_of(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value,
    uint32_t *uid);
bool config_group_of(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value,
    uint32_t *gid);
bool config_prefix_of(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value,
    struct config_prefix *prefix);

#endif

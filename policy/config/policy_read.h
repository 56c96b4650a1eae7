/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of the policy's rules and of their members. */
#ifndef NFDNS_POLICY_CONFIG_POLICY_READ_H
#define NFDNS_POLICY_CONFIG_POLICY_READ_H

#include "policy/config/setting.h"

/* What a rule may do, as the file says it: bits of policy_rule.given. */
enum given {
	GIVEN_ACTION = 0x01,
	GIVEN_ADDRESSES = 0x02,
	GIVEN_CNAME = 0x04,
	GIVEN_REWRITE = 0x08,
	GIVEN_FILTER = 0x10,
	GIVEN_ZONE = 0x20,
};

config_read_value config_read_rules, config_read_rule_name,
    config_read_rule_names, config_read_rule_types, config_read_rule_users,
    config_read_rule_groups, config_read_rule_prefixes,
    config_read_rule_protocols, config_read_rule_source,
    config_read_rule_action,
    config_read_rule_addresses, config_read_rule_cname, config_read_rule_only,
    config_read_rule_pattern,
    config_read_rule_over, config_read_rule_log, config_read_rule_format,
    config_read_rule_path;

/* Checks what needs all rules. */
void config_complete_policy(const struct config_load *load);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of the entries of "audit" and of their filters. */
#ifndef NFDNS_POLICY_CONFIG_AUDIT_H
#define NFDNS_POLICY_CONFIG_AUDIT_H

#include "policy/config/setting.h"

extern const char *const config_audit_clients[], *const config_audit_names[];

config_read_value config_read_audits, config_read_audit_verdict,
    config_read_audit_name, config_read_audit_user, config_read_audit_rule,
    config_read_audit_key;

#endif

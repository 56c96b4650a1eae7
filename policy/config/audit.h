/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of the entries of "audit". */
#ifndef NFDNS_POLICY_CONFIG_AUDIT_H
#define NFDNS_POLICY_CONFIG_AUDIT_H

#include "policy/config/setting.h"

config_read_value config_read_audits, config_read_audit_verdict,
    config_read_audit_rcode,
    config_read_audit_path;

#endif

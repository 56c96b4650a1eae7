/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of the options "forward.*". */
#ifndef NFDNS_POLICY_CONFIG_FORWARD_H
#define NFDNS_POLICY_CONFIG_FORWARD_H

#include "policy/config/setting.h"

config_read_value config_read_forward_domains, config_read_forward_name,
    config_read_upstreams, config_read_ca;

/* After all options: what depends on several of them.  Errors go to diag. */
void config_complete_forward(const struct config_load *load);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of the entries of "containers". */
#ifndef NFDNS_POLICY_CONFIG_CONTAINERS_H
#define NFDNS_POLICY_CONFIG_CONTAINERS_H

#include "policy/config/setting.h"

config_read_value config_read_containers, config_read_interface,
    config_read_source;

void config_containers_free(struct config *config);

#endif

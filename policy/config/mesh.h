/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of the lists of groups and of their members. */
#ifndef NFDNS_POLICY_CONFIG_MESH_H
#define NFDNS_POLICY_CONFIG_MESH_H

#include "policy/config/setting.h"

config_read_value config_read_search, config_read_tables, config_read_format,
    config_read_origin, config_read_namespaces, config_read_zones;

#endif

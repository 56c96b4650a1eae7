/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of single values: numbers, choices, paths, names. */
#ifndef NFDNS_POLICY_CONFIG_VALUE_H
#define NFDNS_POLICY_CONFIG_VALUE_H

#include "policy/config/setting.h"

config_read_value config_read_number, config_read_boolean, config_read_choice,
    config_read_workers, config_read_log_level, config_read_directory,
    config_read_path, config_read_name, config_read_namespace,
    config_read_label, config_read_feed_name;

/* What config_read_log_level() accepts, then NULL. */
extern const char *const config_log_levels[];

/* A 32-bit number, decimal or 0x...; nothing may follow it. */
bool config_number_from_text(const char *text, uint32_t *number);

/* Stores a text of malloc(3) at "to"; NULL is an error in load->diag. */
void config_store_text(const struct config_load *load, void *to, char *text);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of all options: the one place that says which there are, what they
 * may be, their defaults, and whether a reload changes them.
 */
#ifndef NFDNS_POLICY_CONFIG_OPTION_H
#define NFDNS_POLICY_CONFIG_OPTION_H

#include "policy/config/setting.h"

extern const struct config_option config_options[];
extern const size_t config_option_count;

/* NULL if there is none.  path has "[]" for an item's number. */
const struct config_option *config_option_find(const char *path);

#endif

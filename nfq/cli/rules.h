/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NFDNS_NFQ_CLI_RULES_H
#define NFDNS_NFQ_CLI_RULES_H

#include "policy/config/config.h"

/* "nfdns rules [print|verify]".  Returns the exit code (README "Exit codes"). */
int cmd_rules(const struct config *config, int argc, char **argv);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subcommands of nfdns that are about the running daemon. */
#ifndef NFDNS_NFQ_COMMANDS_H
#define NFDNS_NFQ_COMMANDS_H

#include "policy/config.h"

/* Each returns the exit code.  argv[0] is the subcommand's name. */
int cmd_check(const struct config *config, int argc, char **argv);
int cmd_status(const struct config *config, int argc, char **argv);
int cmd_reload(const struct config *config, int argc, char **argv);

#endif

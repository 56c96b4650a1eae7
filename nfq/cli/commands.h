/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subcommands of nfdns that are about the running daemon. */
#ifndef NFDNS_NFQ_CLI_COMMANDS_H
#define NFDNS_NFQ_CLI_COMMANDS_H

#include <stdbool.h>

#include "policy/config/config.h"

/* Each returns the exit code.  argv[0] is the subcommand's name. */
int cmd_check(const struct config *config, int argc, char **argv);
/* Needs nothing of config but run_dir. */
int cmd_status(const struct config *config, int argc, char **argv);
int cmd_reload(const struct config *config, int argc, char **argv);

/*
 * For a configuration that "nfdns reload" has found to be invalid: the daemon
 * in run_dir, if there is one, looks too, so that its log and status know.
 */
void cmd_reload_refused(const char *run_dir);

int cmd_table_here(const struct config *config, int argc, char **argv);

/*
 * What "nfdns check" and "nfdnsd -t" do with a config that was read: rules and
 * tables, every error and warning to stderr, and if there is no error what is
 * valid to stdout.  EXIT_OK or EXIT_INVALID.
 */
int check_everything(const struct config *config, bool strict,
    const char *program);

/*
 * Says on stderr why status_open() had no daemon's page, by its error.
 * Returns the exit code.
 */
int report_no_daemon(const char *command, const char *run_dir, int error);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subcommands of nfdns(8).  command.c has the table that says what each of
 * them needs; one file here has the work of each command.
 *
 * This room is the user's side: it reads the configuration, prints, and returns
 * exit codes.  It parses no packet and no source of a table: the compiler
 * process does that (nfq/process/compiler.h).
 */
#ifndef NFDNS_NFQ_CLI_COMMANDS_H
#define NFDNS_NFQ_CLI_COMMANDS_H

#include <stdbool.h>

#include "nfq/cli/command_options.h"
#include "policy/config/config.h"

extern const struct command_option explain_options[], ask_options[], log_options[],
    doctor_options[], join_options[], leave_options[], cache_options[],
    cache_flush_options[], table_options[],
    top_options[], status_options[], check_options[], reload_options[],
    rules_options[];

/*
 * Every cmd_ function returns the exit code (nfq/process/exit_code.h); argv[0]
 * is the name of the command.  Where the table does not ask for a
 * configuration, only config->path and config->run_dir are set.
 */
extern const char check_usage[];
int cmd_check(const struct config *config, int argc, char **argv);

extern const char status_usage[];
int cmd_status(const struct config *config, int argc, char **argv);

extern const char top_usage[];
int cmd_top(const struct config *config, int argc, char **argv);

extern const char metrics_usage[];
int cmd_metrics(const struct config *config, int argc, char **argv);
int cmd_metrics_open(const struct config *config, int argc, char **argv);
int cmd_metrics_http(const struct config *config, int argc, char **argv);

extern const char rules_usage[];
int cmd_rules_print(const struct config *config, int argc, char **argv);
int cmd_rules_verify(const struct config *config, int argc, char **argv);
int cmd_rules_absent(const struct config *config, int argc, char **argv);
int cmd_rules_sweep(const struct config *config, int argc, char **argv);

extern const char table_usage[];
int cmd_table(const struct config *config, int argc, char **argv);
int cmd_table_list(const struct config *config, int argc, char **argv);
int cmd_table_get(const struct config *config, int argc, char **argv);

extern const char cache_usage[];
int cmd_cache(const struct config *config, int argc, char **argv);

extern const char doctor_usage[];
int cmd_doctor(const struct config *peeked, int argc, char **argv);

extern const char log_usage[];
int cmd_log(const struct config *config, int argc, char **argv);
int cmd_log_verify(const struct config *config, int argc, char **argv);

extern const char explain_usage[];
int cmd_explain(const struct config *config, int argc, char **argv);

extern const char ask_usage[];
int cmd_ask(const struct config *config, int argc, char **argv);

extern const char reload_usage[];
int cmd_reload(const struct config *config, int argc, char **argv);
int cmd_reload_forced(const struct config *config);

extern const char pause_usage[];
int cmd_pause(const struct config *config, int argc, char **argv);
int cmd_resume(const struct config *config, int argc, char **argv);

extern const char join_usage[], leave_usage[];
int cmd_join(const struct config *config, int argc, char **argv);
int cmd_join_manifest(const struct config *config, int argc, char **argv);
int cmd_leave(const struct config *config, int argc, char **argv);

/*
 * The work of "nfdnsd -t": reads the configuration, checks rules, audit files and
 * tables.  Prints every error and warning to stderr and, if there is no error, a
 * summary to stdout.  EXIT_OK or EXIT_INVALID.
 */
int check_file(const char *path, const char *program);

#endif

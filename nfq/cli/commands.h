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
#include <stddef.h>
#include <stdio.h>

#include "policy/config/config.h"

/*
 * The options of a subcommand: a table of them, and the loop that reads them.
 * The table of commands has these tables, and completions and nfdns(8) are
 * compared with them: tests/lint/test_manual.  --help is no row: command.c
 * answers it.
 */

#define COMMAND_OPTIONS_MOST 15

/* Written with the macros below; a table ends with a row without name. */
struct command_option {
	const char *name;		/* "json" of --json */
	char letter;			/* 0: none */
	bool valued;			/* a value follows it */
	/* Of a member of the command's struct: bool; if valued, const char *. */
	size_t offset;
	/*
	 * NULL, or takes the value instead, NULL if the option is not valued.
	 * Returns NULL, or what is wrong with the value.
	 */
	const char *(*read)(void *to, const char *value);
};

/* Sets a bool. */
#define OPTION_FLAG(name, letter, type, member) { name, letter, false, \
	_Generic(((type *)0)->member, bool: offsetof(type, member)), NULL }

/* Points to the value, which argv owns. */
#define OPTION_TEXT(name, letter, type, member) { name, letter, true, \
	_Generic(((type *)0)->member, const char *: offsetof(type, member)), \
	NULL }

#define OPTION_READ(name, letter, read) { name, letter, true, 0, read }

/*
 * Reads the options of argv into the command's struct, and moves the other words
 * behind them; argv[0] is skipped.  Returns the index of the first of the other
 * words, argc if there is none.  -1 after a message to stderr as of "program",
 * such as "nfdns join": an option is unknown, lacks a value, has one too
 * many, or a wrong one.
 */
int command_options_read(const struct command_option *table,
    const char *program, void *to, int argc, char **argv);

/* The same where no other word may be.  False after a message. */
bool command_options_only(const struct command_option *table,
    const char *program, void *to, int argc, char **argv);

/* Whether one of the words is --help or -h. */
bool command_options_ask_help(int argc, char **argv);

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

/* Runs the subcommand that a command line names. */

/* Prints one line for each command: its name and what it does. */
void command_print_list(FILE *out);

/*
 * Prints all commands, their words and their options, a line for each with tabs
 * between the fields, for tests/tools/tables.c:
 *
 *	command NAME SUMMARY
 *	word NAME WORD			a word that may follow it
 *	option NAME WORD LONG LETTER ARGUMENT	"-" is no letter; 1: has a value
 */
void command_print_tables(FILE *out);

/*
 * Runs the command argv[0] with the arguments after it.  path is the
 * configuration file, NULL for the default one; it is read only if the
 * subcommand needs it.  Returns the exit code; errors go to stderr.
 */
int command_run(const char *path, int argc, char **argv);

/* "Shall it be done?", as join and leave ask it. */

/*
 * Whether to go on: "yes" was said on the command line, or is on the terminal
 * now.  If not, says that nothing was done, and *code is the exit code.
 */
bool confirm(const char *command, bool yes, bool dry_run, int *code);

/* Errors of "nfdns" itself, in the form of diag_print(). */

/* Writes the line "nfdns: error: TEXT" to stderr; format has no line end. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* On a terminal: what takes a while, until it is called with NULL. */
void cli_waits_for(const char *what);

/* Whether colours may go there: it is a terminal, and NO_COLOR is not set. */
bool cli_has_colour(int fd);

/* Columns of the terminal, 40 to 80; 80 if it is none. */
unsigned int cli_columns(int fd);

#endif

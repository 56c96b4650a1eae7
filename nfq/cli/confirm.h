/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "Shall it be done?", as join and leave ask it. */
#ifndef NFDNS_NFQ_CLI_CONFIRM_H
#define NFDNS_NFQ_CLI_CONFIRM_H

#include <stdbool.h>

/*
 * Whether to go on: "yes" was said on the command line, or is on the terminal
 * now.  If not, says that nothing was done, and *code is the exit code.
 */
bool confirm(const char *command, bool yes, bool dry_run, int *code);

#endif

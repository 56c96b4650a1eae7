/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line on the terminal while a command takes longer than a second: what the
 * command does, and for how long.
 */
#ifndef NFDNS_NFQ_CLI_PROGRESS_H
#define NFDNS_NFQ_CLI_PROGRESS_H

/*
 * Shows the line until progress_stop(), if stderr is a terminal.  Only one at a
 * time; "what" is borrowed.
 */
void progress_start(const char *what);

/* Erases the line, if there is one. */
void progress_stop(void);

#endif

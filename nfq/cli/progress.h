/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line on the terminal while a command takes longer than a second: what it
 * does, and for how long.  For commands only.
 */
#ifndef NFDNS_NFQ_CLI_PROGRESS_H
#define NFDNS_NFQ_CLI_PROGRESS_H

/*
 * From here on until progress_stop(), if stderr is a terminal; one at a time.
 * what is borrowed.
 */
void progress_start(const char *what);

/* Wipes the line off again, if there is one. */
void progress_stop(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The terminal, by ncurses.  There is one: ncurses has global state. */
#ifndef NFDNS_NFQ_CLI_TOP_TERMINAL_H
#define NFDNS_NFQ_CLI_TOP_TERMINAL_H

#include <stdbool.h>

#include "nfq/cli/top/screen.h"

/*
 * Takes over the terminal at standard input and output; colour: it may have
 * any.  From then on SIGINT and SIGTERM end terminal_key().  The caller has
 * called setlocale(3).  0; -ENOTTY if the terminal's type (TERM) cannot place
 * its cursor, or is unknown.
 */
int terminal_open(bool colour) __attribute__((warn_unused_result));

/* Gives it back as it was. */
void terminal_close(void);

void terminal_size(unsigned int *rows, unsigned int *columns);
void terminal_show(const struct screen *screen);

/*
 * Waits for a key: a character or enum top_key (draw.h); -1 after timeout_ms.
 */
int terminal_key(int timeout_ms);

#endif

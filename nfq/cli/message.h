/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of "nfdns" itself, in the form of diag_print(). */
#ifndef NFDNS_NFQ_CLI_MESSAGE_H
#define NFDNS_NFQ_CLI_MESSAGE_H

#include <stdbool.h>

/* Writes the line "nfdns: error: TEXT" to stderr; format has no line end. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* On a terminal: what takes a while, until it is called with NULL. */
void cli_waits_for(const char *what);

/* Whether colours may go there: it is a terminal, and NO_COLOR is not set. */
bool cli_has_colour(int fd);

/* Columns of the terminal, 40 to 80; 80 if it is none. */
unsigned int cli_columns(int fd);

#endif

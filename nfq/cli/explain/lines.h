/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text under a heading, wrapped at 80 columns. */
#ifndef NFDNS_NFQ_CLI_EXPLAIN_LINES_H
#define NFDNS_NFQ_CLI_EXPLAIN_LINES_H

#include <stdio.h>

#define LINES_TEXT	2048		/* longer texts are cut */

/*
 * Prints the text behind "heading", which stands in the first twelve columns; ""
 * goes on below the last one.  Words that are longer than a line stay whole.
 */
void lines_print(FILE *out, const char *heading, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

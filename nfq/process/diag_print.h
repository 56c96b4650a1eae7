/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a diag holds, to where a person reads it. */
#ifndef NFDNS_NFQ_PROCESS_DIAG_PRINT_H
#define NFDNS_NFQ_PROCESS_DIAG_PRINT_H

#include <stdint.h>
#include <stdio.h>

#include "resolver/text/diag.h"

/* Every entry as a line of the log. */
void report_log(const struct diag *diag);

/* Every entry as "PROGRAM: error: TEXT" or "... warning: ...". */
void report_print(const struct diag *diag, const char *program, FILE *out);

/* Says what is valid: "valid: 3 tables, 659 names, 5 warnings". */
void report_valid(size_t tables, uint64_t names, size_t warnings, FILE *out);

/* The first error's text, or NULL if there is none. */
const char *report_first(const struct diag *diag);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one place that prints errors and warnings (struct diag) for a person: to
 * the log of the daemon, or to the terminal of a command.  Every entry is one
 * line, in the same wording wherever it appears.
 */
#ifndef NFDNS_NFQ_PROCESS_DIAG_PRINT_H
#define NFDNS_NFQ_PROCESS_DIAG_PRINT_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "resolver/text/diag.h"
#include "resolver/text/json_write.h"

/* Writes every entry as one line of the log. */
void diag_log(const struct diag *diag);

/*
 * Writes every entry to out as "PROGRAM: error: TEXT" or
 * "PROGRAM: warning: TEXT", but notes.
 */
void diag_print(const struct diag *diag, const char *program, FILE *out);

/* Writes the notes alone, a line each. */
void diag_print_notes(const struct diag *diag, FILE *out);

/* Writes one error in that form; format has no line end. */
void diag_print_error(const char *program, FILE *out, const char *format,
    va_list arguments) __attribute__((format(printf, 3, 0)));

/*
 * Writes the summary of a valid configuration to out:
 * "valid: 3 tables, 659 names, 5 warnings".
 */
void diag_print_valid(size_t tables, uint64_t names, size_t warnings,
    FILE *out);

/* The members "errors", "warnings" and "notes" of the open object, arrays of texts. */
void diag_write_json(const struct diag *diag, struct json_write *w);

/* The text of the first error, owned by diag; NULL if there is no error. */
const char *diag_first_error(const struct diag *diag);

#endif

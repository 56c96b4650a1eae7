/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors and warnings about a file that a person wrote, collected so that all
 * of them can be shown at once.  Library code adds them; the program prints
 * them.
 *
 * This room holds texts: messages, suggestions, readers of JSON and YAML.  It
 * knows nothing of DNS.
 */
#ifndef NFDNS_RESOLVER_TEXT_DIAG_H
#define NFDNS_RESOLVER_TEXT_DIAG_H

#include <stdbool.h>
#include <stddef.h>

/* A note says nothing bad: how many names a file has. */
enum diag_level { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

struct diag_entry {
	enum diag_level level;
	char *text;		/* "FILE:LINE: what is wrong; what to do", one line */
};

/*
 * At most DIAG_MAX_KEPT entries are kept; all are counted.  Errors and notes
 * take the place of warnings.
 */
#define DIAG_MAX_KEPT 100

/* Start from DIAG_INIT; owns its texts. */
struct diag {
	struct diag_entry entries[DIAG_MAX_KEPT];
	size_t kept;
	size_t errors;
	size_t warnings;
	size_t notes;
};

#define DIAG_INIT { .kept = 0 }

/*
 * Adds one entry.  file may be NULL; line 0 means "no line".  Control
 * characters, which hostile input may contain, are written as \xNN, so that
 * each entry is one line.
 */
void diag_add(struct diag *diag, enum diag_level level, const char *file,
    unsigned int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds an entry whose text is complete, such as one read from a pipe. */
void diag_add_text(struct diag *diag, enum diag_level level, const char *text);

/* Adds a note, "FILE: 1,234 names"; unit is the word without the "s". */
void diag_add_count(struct diag *diag, const char *file, size_t count,
    const char *unit);

/* Makes every warning an error. */
void diag_be_strict(struct diag *diag);

/* How many were counted but not kept. */
size_t diag_dropped(const struct diag *diag);

void diag_free(struct diag *diag);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The byte order mark (U+FEFF) that editors of Windows write before a text. */
#ifndef NFDNS_RESOLVER_TEXT_BOM_H
#define NFDNS_RESOLVER_TEXT_BOM_H

#include <stdbool.h>
#include <stddef.h>

/* What to say of a file that is no UTF-8, behind its path. */
#define BOM_UTF16 "is UTF-16 text (a byte order mark says so); save it as UTF-8"

/*
 * Takes the mark off a text in UTF-8, in place: every reader of a file that a
 * person writes calls it once.  False if the mark is that of UTF-16 (or of
 * UTF-32), which nobody reads; the text stays as it is then.
 */
bool bom_take(char *text, size_t *length);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks UTF-8: RFC 3629. */
#ifndef NFDNS_RESOLVER_TEXT_UTF8_H
#define NFDNS_RESOLVER_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The number of octets, 1 to 4, of the character at "at", which lies below
 * "end".  0 if there is none: overlong forms, surrogates, code points above
 * U+10FFFF and characters that "end" cuts off are no UTF-8.
 */
size_t utf8_length(const char *at, const char *end);

/* The code point of a character of that length, which utf8_length() gave. */
uint32_t utf8_code(const char *at, size_t length);

/* The byte order mark (U+FEFF) that editors of Windows write before a text. */

/* What to say of a file that is no UTF-8, behind its path. */
#define BOM_UTF16 "is UTF-16 text (a byte order mark says so); save it as UTF-8"

/*
 * Takes the mark off a text in UTF-8, in place: every reader of a file that a
 * person writes calls it once.  False if the mark is that of UTF-16 (or of
 * UTF-32), which nobody reads; the text stays as it is then.
 */
bool bom_take(char *text, size_t *length);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text that others wrote (logs, tables, file names, answers of servers), made
 * fit for a terminal: a control character would move the cursor, set the title
 * or answer for the keyboard, and a mark of direction would show another order.
 * What a program prints of such a text goes through here.
 */
#ifndef NFDNS_RESOLVER_TEXT_PRINTABLE_H
#define NFDNS_RESOLVER_TEXT_PRINTABLE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Octets that an octet of such a text becomes at most. */
#define PRINTABLE_GROWTH 4

/*
 * Writes as many whole characters of the text as "size" octets hold with the
 * NUL that ends them; size is not 0.  Printable characters (UTF-8, RFC 3629)
 * stay; octets of control characters (C0, DEL, C1), of marks that are not seen
 * or change the direction, and octets that are no UTF-8 become "\xNN".  Returns
 * the length of the whole text: what is cut is not below size.
 */
size_t printable_text(char *to, size_t size, const void *text, size_t length);

/* Writes the same to a file.  Returns the number of octets written. */
int printable_put(const char *text, FILE *out);

/* Writes a formatted line of such texts, and the line end. */
void printable_line(FILE *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void printable_vline(FILE *out, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/*
 * Writes printable text from that column on, where its other lines begin, too, and a
 * line end; a line has "width" octets at most, unless a word is longer.
 */
void printable_wrap(FILE *out, const char *text, size_t column, size_t width);

/*
 * Writes a JSON text (RFC 8259) that means the same and has such characters as
 * "\uNNNN"; control characters between its tokens become spaces.
 */
void printable_put_json(const char *text, size_t length, FILE *out);

/* What the noun behind a count ends in. */
static inline const char *
plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

#endif

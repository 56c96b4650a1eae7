/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole numbers in arguments, environment variables and files. */
#ifndef NFDNS_RESOLVER_TEXT_NUMBER_H
#define NFDNS_RESOLVER_TEXT_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads a text that is decimal digits and nothing else, no sign and no blank.
 * False, and *number stays as it is, if it is not, or is more than "most".
 */
bool number_from_text(const char *text, uint64_t most, uint64_t *number);

/* The same of a time: "90s", "10m", "2h", "3d", or "90"; "most" is of seconds, too. */
bool number_of_seconds(const char *text, uint64_t most, uint64_t *seconds);

/* 0 to 15, of a hexadecimal digit of either case; -1: it is none. */
int number_hex_digit(char c);

#endif

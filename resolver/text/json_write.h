/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes JSON (RFC 8259) to a stream as it goes, without white space.  Each
 * function puts one value: a member of the open object under its key, or an
 * element of the open array if the key is NULL.  Errors are kept until
 * json_write_end(): nothing has to be checked before.
 */
#ifndef NFDNS_RESOLVER_TEXT_JSON_WRITE_H
#define NFDNS_RESOLVER_TEXT_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Start with the first two; the rest zero. */
struct json_write {
	FILE *out;
	bool ascii;		/* other characters than ASCII as \uNNNN */
	bool comma;		/* before the next value */
	int error;		/* the caller's own, as -ENOMEM; sticky */
};

/* "begin" is '{' or '[', "end" '}' or ']'. */
void json_write_open(struct json_write *w, const char *key, char begin);
void json_write_close(struct json_write *w, char end);

/*
 * Keys and texts may be any octets: those that are no UTF-8 become '?'.  A text
 * that is NULL is null.
 */
void json_write_text(struct json_write *w, const char *key, const char *text);
void json_write_octets(struct json_write *w, const char *key,
    const char *text, size_t length);

/* In hexadecimal. */
void json_write_hex(struct json_write *w, const char *key,
    const uint8_t *octets, size_t length);

void json_write_integer(struct json_write *w, const char *key, int64_t number);
/* Many readers have signed integers only: without the highest bit. */
void json_write_number(struct json_write *w, const char *key, uint64_t number);
void json_write_real(struct json_write *w, const char *key, double number);
void json_write_bool(struct json_write *w, const char *key, bool yes);

/* Ends the line.  0, the caller's error, or -EIO. */
int json_write_end(struct json_write *w) __attribute__((warn_unused_result));

#endif

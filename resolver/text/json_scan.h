/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks a JSON text (RFC 8259) without building it in memory: the caller steps
 * through the objects and arrays it knows and gets the range of text of each
 * value in them.  So a table of a million names costs one entry's memory.
 *
 * The error is sticky, as in wire.h: after one, every step yields nothing.
 * A range is only delimited here, not checked: json_tree_take() reads it.
 */
#ifndef NFDNS_RESOLVER_TEXT_JSON_SCAN_H
#define NFDNS_RESOLVER_TEXT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* Levels of nested arrays and objects; more is an error. */
#define JSON_SCAN_MAX_DEPTH 64

/* Borrows the text. */
struct json_scan {
	const char *at;
	const char *end;
	unsigned int line;	/* of "at", from 1 */
	unsigned int depth;
	const char *expected;	/* what is wrong, or NULL */
};

/* A value or a member's name as it stands in the text, quotes included. */
struct json_range {
	const char *text;
	size_t length;
	unsigned int line;	/* where it begins */
	bool plain;		/* a string of ASCII without escapes */
};

struct json_scan json_scan_over(const char *text, size_t length);

/*
 * The first character of the next token, without taking it; '\0' at the end of
 * the text and after an error.
 */
char json_scan_peek(struct json_scan *scan);

/* Enters the object or array that must come next. */
bool json_scan_enter_object(struct json_scan *scan);
bool json_scan_enter_array(struct json_scan *scan);

/*
 * In an object or array that was entered, steps to the next member, whose name
 * goes to *name, or to the next element.  Take the value before the next step.
 * False after the last one, which leaves the object or array; and on error.
 */
bool json_scan_member(struct json_scan *scan, struct json_range *name);
bool json_scan_element(struct json_scan *scan);

/* Takes one value of any kind. */
bool json_scan_value(struct json_scan *scan, struct json_range *value);

/* Whether only white space is left; anything else is an error. */
bool json_scan_end(struct json_scan *scan);

/*
 * After an error, for its message: whether what stands there instead of the
 * first value is a line of YAML ("key: ...", "- ...", "---"), after comments.
 */
bool json_scan_sees_yaml(const struct json_scan *scan);

/* Whether the string without its quotes is exactly that text. */
bool json_range_is(const struct json_range *string, const char *text);

#endif

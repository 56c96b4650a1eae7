/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words of a master file's entry (RFC 1035 section 5.1): TTLs and classes, which
 * may stand in either order, and $GENERATE.
 */
#ifndef NFDNS_RESOLVER_SOURCES_ZONE_WORDS_H
#define NFDNS_RESOLVER_SOURCES_ZONE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The next word at *at, which is moved behind it; quotes are taken off. */
size_t zone_word(const char **at, const char **word);

/*
 * Reads seconds, or "1h30m".  False if the word is no time, or more than 2^31 - 1
 * seconds (RFC 2181 section 8).
 */
bool zone_ttl(const char *word, size_t length, uint32_t *ttl);

/* What stands between a record's owner and its type. */
struct zone_front {
	bool has_ttl;
	uint32_t ttl;
	const char *fault;	/* NULL, or what is wrong: "..." of the record */
	const char *type;	/* in the text */
	size_t type_length;
};

/*
 * Reads TTL and class of a record, in either order, and overwrites them with
 * blanks: what is left has the order that ldns knows.
 */
void zone_front_take(struct zone_front *front, char *text);

/* The range of a $GENERATE: first, last and step. */
struct zone_range {
	uint32_t first, last, step;
};

/* Reads "1-100" or "0-254/2".  False if the word is no range. */
bool zone_range_read(struct zone_range *range, const char *word, size_t length);

/*
 * Writes the template with "$" as the number, "${OFFSET,WIDTH,BASE}" as BIND has
 * it, and "$$" as "$".  Returns the text's length, NUL-terminated; or 0 if the
 * template has a fault or its text does not fit.
 */
size_t zone_generate(const char *template, uint32_t number, char *to,
    size_t size);

#endif

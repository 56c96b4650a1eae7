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

#include "resolver/dns/name.h"
#include "resolver/sources/source_format.h"
#include "resolver/text/diag.h"

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

/* The records of a master file one by one, for readers that make no table of it. */

/* A record of class IN.  Borrows all. */
struct zone_record {
	const struct dns_name *name;	/* lower-cased */
	uint16_t type;
	uint32_t ttl;			/* seconds */
	const uint8_t *rdata;		/* uncompressed */
	uint16_t length;
	const char *path;		/* of the file with the record */
	unsigned int line;
};

/*
 * Takes a record.  Returns 0, or a negative errno, with which reading ends;
 * -EINVAL is an error of this record, and reading goes on.
 */
typedef int zone_record_take(void *to, const struct zone_record *record);

/*
 * Gives each record of the text to "take"; ttl is that of records before the
 * first that has one.  Each entry that is no record is refused: errors in diag,
 * all that there are.  Of the text: path, data, broker and number.
 * Returns 0, or the negative errno that ended the reading.
 */
int zone_records_read(const struct source_text *text,
    const struct dns_name *origin, uint32_t ttl, zone_record_take *take,
    void *to, struct diag *diag) __attribute__((warn_unused_result));

#endif

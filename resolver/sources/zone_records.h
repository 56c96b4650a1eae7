/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of a master file one by one, for readers that make no table of it. */
#ifndef NFDNS_RESOLVER_SOURCES_ZONE_RECORDS_H
#define NFDNS_RESOLVER_SOURCES_ZONE_RECORDS_H

#include <stdint.h>

#include "resolver/dns/name.h"
#include "resolver/sources/source_text.h"
#include "resolver/text/diag.h"

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

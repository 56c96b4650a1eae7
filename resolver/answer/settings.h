/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What answers depend on beside the table: plain values of the configuration,
 * the same for all names.  They are no part of the table's image, so a reload
 * may change them and keep the table.
 */
#ifndef NFDNS_RESOLVER_ANSWER_SETTINGS_H
#define NFDNS_RESOLVER_ANSWER_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "resolver/image/table.h"

/* What happens to questions until a first table has loaded. */
enum answer_unloaded { UNLOADED_PASS, UNLOADED_SERVFAIL };

/* What happens to packets without a readable question where a rule could deny. */
enum answer_unreadable { UNREADABLE_DROP, UNREADABLE_PASS };

/* All fields are 32 bits wide, so the value has no padding. */
struct answer_settings {
	uint32_t negative_ttl;		/* seconds; RFC 2308 section 5 */
	uint32_t udp_size;		/* octets, 512 to 4096: our own limit */
	uint32_t suppress_https;	/* 0 or 1: HTTPS and SVCB are NODATA */
	uint32_t tcp;			/* 0 or 1: TCP questions are answered, too */
	uint32_t unloaded;		/* enum answer_unloaded */
	uint32_t unreadable;		/* enum answer_unreadable */
};

/* What answers are made from.  Borrows both. */
struct answer_source {
	const struct table *table;
	const struct answer_settings *settings;
	bool loaded;			/* table_is_loaded(), asked once */
};

static inline struct answer_source
answer_source(const struct table *table, const struct answer_settings *settings)
{
	return (struct answer_source){ table, settings,
		table_is_loaded(table) };
}

#endif

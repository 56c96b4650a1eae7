/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries of later tables that a name's entry hides.  The image keeps only the
 * first, so each table is compiled again by itself when that is first asked.
 */
#ifndef NFDNS_NFQ_CLI_EXPLAIN_SHADOWS_H
#define NFDNS_NFQ_CLI_EXPLAIN_SHADOWS_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/config/config.h"
#include "resolver/image/table.h"

struct shadows;

/* Borrows config.  NULL: out of memory. */
struct shadows *shadows_new(const struct config *config)
    __attribute__((warn_unused_result));
void shadows_free(struct shadows *shadows);	/* NULL is allowed */

/* One place in a file; path is not NUL-terminated and lives as shadows. */
struct shadow {
	const char *path;
	size_t path_length;
	unsigned int line;		/* 0: not known */
};

/*
 * The places where tables behind the first that has that name in the same way
 * (exactly, or by the same wildcard) define it again: at most "most" of them.
 * False: a table could not be compiled, as a file may not be read.
 */
bool shadows_find(struct shadows *shadows, const struct dns_name *name,
    enum entry_kind kind, struct shadow *found, size_t most, size_t *count);

#endif

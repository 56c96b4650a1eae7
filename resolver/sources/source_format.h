/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text formats a mesh table can come from.  One row in source.c and one
 * source_NAME.c make a new format.
 */
#ifndef NFDNS_RESOLVER_SOURCES_SOURCE_FORMAT_H
#define NFDNS_RESOLVER_SOURCES_SOURCE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/image/builder.h"
#include "resolver/text/diag.h"
#include "resolver/sources/source_text.h"
#include "resolver/image/mesh.h"

struct source_set;		/* sources that are read together */

struct source_format {
	const char *name;	/* as in the config: "nds" */
	bool includes;		/* names further files: include.h */
	const char *ending;	/* of its files in a directory; NULL: one file */
	/*
	 * Adds the text's names to b.  What is wrong goes to diag with file and
	 * line; a text that cannot be used as a whole is an error there.
	 * Returns 0, or -ENOMEM / -E2BIG from the builder.
	 */
	int (*read)(const struct source_text *text, struct builder *b,
	    struct diag *diag);
	/*
	 * NULL, or for a format whose sources speak of the same things: what
	 * one holds may be about what another does.  Each goes to add(), which
	 * returns as read() does; its path is borrowed until end(), which adds
	 * the names of all if it is to, and frees the set.  begin() returns
	 * NULL on lack of memory.
	 */
	struct source_set *(*begin)(struct builder *b, struct diag *diag);
	int (*add)(struct source_set *set, const struct source_text *text);
	int (*end)(struct source_set *set, bool make_names);
};

/* NULL if there is no format of that name. */
const struct source_format *source_format_find(const char *name);

/* The names of all formats, for messages: "nds, hosts". */
const char *source_format_names(void);

int source_nds_read(const struct source_text *, struct builder *, struct diag *);
int source_nds_proto_read(const struct source_text *, struct builder *,
    struct diag *);
int source_hosts_read(const struct source_text *, struct builder *, struct diag *);
int source_kubernetes_read(const struct source_text *, struct builder *,
    struct diag *);
struct source_set *source_kubernetes_begin(struct builder *, struct diag *);
int source_kubernetes_add(struct source_set *, const struct source_text *);
int source_kubernetes_end(struct source_set *, bool);
int source_zone_read(const struct source_text *, struct builder *, struct diag *);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text formats a mesh table can come from.  One row in source.c and one
 * source_NAME.c make a new format.
 */
#ifndef NFDNS_RESOLVER_SOURCE_H
#define NFDNS_RESOLVER_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/builder.h"
#include "resolver/diag.h"
#include "resolver/mesh.h"

/* A source's whole text; borrowed for the call. */
struct source_text {
	const char *path;	/* for messages */
	const char *data;	/* length octets, not NUL-terminated */
	size_t length;
	const struct mesh *mesh;
	const struct mesh_source *source;	/* NULL: all its options' defaults */
};

/* Seconds that clients may keep the source's records. */
static inline uint32_t
source_ttl(const struct source_text *text)
{
	return text->source != NULL && text->source->ttl != 0 ?
	    text->source->ttl : text->mesh->ttl;
}

struct source_format {
	const char *name;	/* as in the config: "nds" */
	/*
	 * Adds the text's names to b.  What is wrong goes to diag with file and
	 * line; a text that cannot be used as a whole is an error there.
	 * Returns 0, or -ENOMEM / -E2BIG from the builder.
	 */
	int (*read)(const struct source_text *text, struct builder *b,
	    struct diag *diag);
};

/* NULL if there is no format of that name. */
const struct source_format *source_format_find(const char *name);

/* The names of all formats, for messages: "nds, hosts". */
const char *source_format_names(void);

int source_nds_read(const struct source_text *, struct builder *, struct diag *);
int source_hosts_read(const struct source_text *, struct builder *, struct diag *);
int source_kubernetes_read(const struct source_text *, struct builder *,
    struct diag *);

#endif

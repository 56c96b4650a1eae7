/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text format of a mesh table, and the readers of this room.  The table of all
 * formats is in resolver/compile/source_files.h.
 *
 * This room has one reader for each format, and the files and directories that
 * texts come from.  A reader gets a text and adds names to a builder: it opens no
 * file and knows no process.
 */
#ifndef NFDNS_RESOLVER_SOURCES_SOURCE_FORMAT_H
#define NFDNS_RESOLVER_SOURCES_SOURCE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/image/mesh.h"
#include "resolver/image/builder.h"
#include "resolver/text/diag.h"

/* The text that a reader of a format gets. */

/* A source's whole text; borrowed for the call. */
struct source_text {
	const char *path;	/* for messages */
	const char *data;	/* length octets, not NUL-terminated */
	size_t length;
	const struct mesh *mesh;
	const struct mesh_source *source;	/* options; NULL: defaults */
	unsigned int file;	/* its number in the builder */
	const int *broker;	/* for include_ask(); NULL: include_open() */
	unsigned int number;	/* of the source, for the broker */
};

/* TTL of the source's records, in seconds. */
static inline uint32_t
source_ttl(const struct source_text *text)
{
	return text->source != NULL && text->source->ttl != 0 ?
	    text->source->ttl : text->mesh->ttl;
}

struct source_set;		/* sources that are read together */

struct source_format {
	const char *name;	/* as in the configuration: "nds" */
	bool includes;		/* its files name further files: source_file.h */
	bool kept;		/* by a feed: what the file says of itself is its
				   format (feed_file.h), and it may not be there
				   yet; no functions */
	const char *ending;	/* of its files in a directory; NULL: no
				   directory is allowed */
	/*
	 * Adds the text's names to b.  Faults go to diag with file and line; a
	 * text that cannot be used as a whole is an error there.
	 * Returns 0, or -ENOMEM / -E2BIG from the builder.
	 */
	int (*read)(const struct source_text *text, struct builder *b,
	    struct diag *diag);
	/*
	 * NULL, or for a format whose sources refer to each other's objects, so
	 * that all of them are read before names are made.  begin() returns
	 * NULL on lack of memory.  add() takes one text and returns as read()
	 * does; the text's path is borrowed until end().  end() adds the names
	 * of all texts if make_names, and always frees the set.
	 */
	struct source_set *(*begin)(struct builder *b, struct diag *diag);
	int (*add)(struct source_set *set, const struct source_text *text);
	int (*end)(struct source_set *set, bool make_names);
};

/* The readers of this room: see struct source_format, read. */
int source_nds_read(const struct source_text *text, struct builder *b,
    struct diag *diag) __attribute__((warn_unused_result));
int source_nds_proto_read(const struct source_text *text, struct builder *b,
    struct diag *diag) __attribute__((warn_unused_result));
int source_hosts_read(const struct source_text *text, struct builder *b,
    struct diag *diag) __attribute__((warn_unused_result));
int source_zone_read(const struct source_text *text, struct builder *b,
    struct diag *diag) __attribute__((warn_unused_result));

#endif

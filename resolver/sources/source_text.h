/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text that a reader of a format gets. */
#ifndef NFDNS_RESOLVER_SOURCES_SOURCE_TEXT_H
#define NFDNS_RESOLVER_SOURCES_SOURCE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/image/mesh.h"

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

#endif

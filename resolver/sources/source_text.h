/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a reader of a source is given. */
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
	const struct mesh_source *source;	/* NULL: all its options' defaults */
	unsigned int file;	/* the builder's number of it */
	const int *broker;	/* opens what is included; NULL: we may ourselves */
};

/* Seconds that clients may keep the source's records. */
static inline uint32_t
source_ttl(const struct source_text *text)
{
	return text->source != NULL && text->source->ttl != 0 ?
	    text->source->ttl : text->mesh->ttl;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that two sources have: the earlier one's stay, the later one is told. */
#include <string.h>

#include "resolver/image/builder.h"
#include "resolver/image/builder_state.h"
#include "resolver/image/image.h"

bool
build_is_shadowed(struct builder *b, uint32_t handle, unsigned int line)
{
	struct build_node *node = BUILD_AT(b, struct build_node, handle);

	if (node->set == 0 || node->source == b->source)
		return false;
	if (node->shadows == b->source + 1)
		return true;
	node->shadows = (uint16_t)(b->source + 1);
	if (b->shadowed < BUILDER_SHADOWS_KEPT)
		b->shadows[b->shadowed] = (struct build_shadow){
			handle, b->file, line };
	b->shadowed++;
	return true;
}

size_t
builder_shadowed(const struct builder *b)
{
	return b->shadowed;
}

void
builder_shadow(const struct builder *b, size_t n, struct builder_shadow *shadow)
{
	const struct build_shadow *kept = &b->shadows[n];
	const struct build_node *node =
	    BUILD_AT(b, const struct build_node, kept->node);
	size_t star = node->flags & IMAGE_WILDCARD ? 2 : 0;

	shadow->path = build_file_path(b, kept->file);
	shadow->line = kept->line;
	shadow->winner_path = build_file_path(b, node->file);
	shadow->winner_line = node->line;
	memcpy(shadow->name.octets, "\1*", star);
	memcpy(shadow->name.octets + star, node->octets, node->length);
	shadow->name.length = (uint8_t)(node->length + star);
	shadow->name.labels = (uint8_t)(node->labels + star / 2);
}

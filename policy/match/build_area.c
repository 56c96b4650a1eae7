/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Areas of a section that grow while it is built. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/match/build_state.h"

void *
build_grow(struct builder *b, struct area *area, size_t octets)
{
	const size_t wanted = area->size + octets;
	uint8_t *place;

	if (b->error != 0)
		return NULL;
	if (wanted > UINT32_MAX) {
		b->error = -E2BIG;
		return NULL;
	}
	if (wanted > area->room || area->octets == NULL) {
		const size_t room = wanted + area->room / 2 + 64;
		uint8_t *grown = realloc(area->octets, room);

		if (grown == NULL) {
			b->error = -ENOMEM;
			return NULL;
		}
		area->octets = grown;
		area->room = room;
	}
	place = area->octets + area->size;
	memset(place, 0, octets);
	area->size = wanted;
	return place;
}

struct section_span
build_octets(struct builder *b, const void *octets, size_t size, size_t items)
{
	struct area *area = &b->areas[AREA_OCTETS];
	const struct section_span span = { (uint32_t)area->size,
		(uint32_t)items };
	void *place = build_grow(b, area, size);

	if (place != NULL && size > 0)
		memcpy(place, octets, size);
	return span;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images made by hand, right in all but one place, for tests of image_check().
 * Each ends where a page begins that nobody may read, so that one octet too many
 * is a crash.
 */
#ifndef NFDNS_TESTS_UNIT_RESOLVER_IMAGE_MADE_IMAGE_H
#define NFDNS_TESTS_UNIT_RESOLVER_IMAGE_MADE_IMAGE_H

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "resolver/image/image.h"
#include "tests/check.h"
#include "tests/image.h"

#define ROOM	65536
#define NONE	0		/* no set: an empty non-terminal */
#define OWN	UINT32_MAX	/* the set that follows */

/* The image that is being made; "at" is where the next thing goes. */
static struct {
	union {
		struct image_header header;
		uint8_t octets[ROOM];
	};
	size_t at;
	size_t node;		/* where the last one begins */
	uint8_t *guarded;	/* ends at the forbidden page */
} m;

static inline void
put(const void *octets, size_t length)
{
	MUST(m.at + length <= ROOM);
	if (length > 0)
		memcpy(m.octets + m.at, octets, length);
	m.at += length;
}

/* A header, those strings, filters and empty slots; nodes follow. */
static inline void
begin_filtered(uint32_t slot_bits, const void *strings, size_t length,
    uint8_t tail_bits, uint8_t head_bits)
{
	struct image_header *h = &m.header;

	memset(m.octets, 0, ROOM);
	memcpy(h->magic, IMAGE_MAGIC, sizeof(h->magic));
	h->version = IMAGE_VERSION;
	h->header_size = sizeof(*h);
	h->slot_bits = slot_bits;
	m.at = sizeof(*h);
	h->strings = (uint32_t)m.at;
	put(strings, length);
	m.at = image_pad8(m.at);
	h->tails = (uint32_t)m.at;
	h->tail_bits = tail_bits;
	m.at += sizeof(uint64_t) << tail_bits;
	h->heads = (uint32_t)m.at;
	h->head_bits = head_bits;
	m.at += sizeof(uint64_t) << head_bits;
	h->policy = (uint32_t)m.at;
	h->slots = (uint32_t)m.at;
	m.at += sizeof(struct image_slot) << slot_bits;
	h->nodes = (uint32_t)m.at;
}

static inline void
begin(uint32_t slot_bits, const void *strings, size_t length)
{
	begin_filtered(slot_bits, strings, length, 0, 0);
}

static inline struct image_slot *
slot(unsigned int n)
{
	return (struct image_slot *)(void *)(m.octets + m.header.slots) + n;
}

/* A node in that slot; returns where it is. */
static inline struct image_node *
node(unsigned int in_slot, const void *name, size_t length, uint32_t set)
{
	struct image_node *made = (void *)(m.octets + m.at);
	struct image_node head = { .length = (uint8_t)length };

	slot(in_slot)->node = (uint32_t)m.at;
	m.node = m.at;
	m.header.node_count++;
	m.header.name_count += set != NONE;
	put(&head, sizeof(head));
	put(name, length);
	m.at = image_pad4(m.at);
	made->set = set == OWN ? (uint32_t)m.at : set;
	return made;
}

static inline struct image_set *
set_of(uint16_t count)
{
	struct image_set *made = (void *)(m.octets + m.at);
	const struct image_set head = { .count = count,
		.back = (uint8_t)((m.at - m.node) / 4) };

	put(&head, sizeof(head));
	return made;
}

static inline struct image_rrset *
rrset(uint16_t type, uint16_t rdlength, uint32_t count, const void *rdata,
    size_t size)
{
	struct image_rrset *made = (void *)(m.octets + m.at);
	struct image_rrset head = { .type = type, .rdlength = rdlength,
		.ttl = 30, .count = count, .size = (uint32_t)size };

	put(&head, sizeof(head));
	put(rdata, size);
	m.at = image_pad4(m.at);
	return made;
}

/* Size and checksum are put right, as a hostile image has them right. */
static inline void
seal(size_t size)
{
	const size_t unhashed = offsetof(struct image_header, wildcard_labels);

	m.header.total_size = size;
	m.header.checksum = XXH3_64bits(m.octets + unhashed, size - unhashed);
}

/* The verdict on the first "size" octets as they are. */
static inline const char *
verdict(size_t size)
{
	uint8_t *copy;

	if (m.guarded == NULL) {
		uint8_t *pages = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		MUST(pages != MAP_FAILED);
		MUST(mprotect(pages + ROOM, 4096, PROT_NONE) == 0);
		m.guarded = pages + ROOM;
	}
	/* Images are aligned as the pages are that they are mapped to. */
	copy = m.guarded - image_pad8(size);
	memcpy(copy, m.octets, size);
	return image_check(copy, size, false);
}

static inline bool
is(const char *expected)
{
	const char *why;

	seal(m.at);
	why = verdict(m.at);
	if (why == NULL || expected == NULL ? why == expected :
	    strcmp(why, expected) == 0)
		return true;
	printf("  \"%s\", not \"%s\"\n", why != NULL ? why : "sound",
	    expected != NULL ? expected : "sound");
	return false;
}

#define SOUND	is(NULL)

/* One address at "a." in an image with two slots. */
static inline struct image_node *
small(void)
{
	struct image_node *a;

	begin(1, NULL, 0);
	a = node(0, "\1a", 3, OWN);
	(void)set_of(1);
	(void)rrset(TYPE_A, 4, 1, "\12\0\0\1", 4);
	return a;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/ring.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The header of each record; sizes are multiples of its own. */
struct slot {
	uint32_t size;			/* of header and record */
	uint32_t filler;		/* 1: no record, unused up to the ring's end */
	uint64_t unused;		/* records are aligned to 16 */
};

static_assert((AUDIT_RING_SIZE & (AUDIT_RING_SIZE - 1)) == 0, "power of two");
static_assert(sizeof(struct slot) == 16, "a filler has room for its header");
/* Octets of the largest record. */
#define RECORD_MAX	(sizeof(struct audit_record) + 2UL * UINT16_MAX + \
    3UL * UINT8_MAX + 32)

static_assert(2 * RECORD_MAX < AUDIT_RING_SIZE,
    "the largest record fits, wherever it begins");

int
audit_ring_init(struct audit_ring *ring)
{
	memset(ring, 0, sizeof(*ring));
	ring->octets = malloc(AUDIT_RING_SIZE);
	return ring->octets != NULL ? 0 : -ENOMEM;
}

void
audit_ring_clear(struct audit_ring *ring)
{
	free(ring->octets);
	ring->octets = NULL;
}

static bool
has_room(struct audit_ring *ring, uint64_t head, uint64_t need)
{
	if (head + need - ring->known_tail <= AUDIT_RING_SIZE)
		return true;
	ring->known_tail = atomic_load_explicit(&ring->tail,
	    memory_order_acquire);
	return head + need - ring->known_tail <= AUDIT_RING_SIZE;
}

bool
audit_ring_is_filling(struct audit_ring *ring)
{
	return !has_room(ring, atomic_load_explicit(&ring->head,
	    memory_order_relaxed), AUDIT_RING_SIZE - AUDIT_RING_SIZE / 4);
}

static uint8_t *
copy(uint8_t *to, const void *from, size_t length)
{
	if (length > 0)
		memcpy(to, from, length);
	return to + length;
}

bool
audit_ring_put(struct audit_ring *ring, const struct audit_record *record)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint64_t at = head & (AUDIT_RING_SIZE - 1);
	uint64_t to_end = AUDIT_RING_SIZE - at, skip;
	size_t size = sizeof(struct slot) + sizeof(*record) +
	    record->question_length + record->answer_length +
	    record->rule_length + record->observer_length +
	    record->judged_length;
	struct slot slot;
	uint8_t *to;

	size = (size + sizeof(slot) - 1) & ~(sizeof(slot) - 1);
	/* A record is contiguous: if it does not fit, skip to the beginning. */
	skip = size > to_end ? to_end : 0;
	if (!has_room(ring, head, size + skip)) {
		atomic_fetch_add_explicit(&ring->lost, 1, memory_order_relaxed);
		return false;
	}
	if (skip > 0) {
		slot = (struct slot){ (uint32_t)skip, 1, 0 };
		copy(ring->octets + at, &slot, sizeof(slot));
		at = 0;
	}
	slot = (struct slot){ (uint32_t)size, 0, 0 };
	to = copy(ring->octets + at, &slot, sizeof(slot));
	to = copy(to, record, sizeof(*record));
	to = copy(to, record->question, record->question_length);
	to = copy(to, record->answer, record->answer_length);
	to = copy(to, record->rule, record->rule_length);
	to = copy(to, record->observer, record->observer_length);
	copy(to, record->judged, record->judged_length);
	atomic_store_explicit(&ring->head, head + skip + size,
	    memory_order_release);
	return true;
}

uint64_t
audit_ring_end(const struct audit_ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_acquire);
}

bool
audit_ring_next(const struct audit_ring *ring, uint64_t *cursor, uint64_t end,
    struct audit_record *record)
{
	const uint8_t *from;
	struct slot slot;

	do {
		if (*cursor == end)
			return false;
		from = ring->octets + (*cursor & (AUDIT_RING_SIZE - 1));
		memcpy(&slot, from, sizeof(slot));
		*cursor += slot.size;
	} while (slot.filler != 0);
	from += sizeof(slot);
	memcpy(record, from, sizeof(*record));
	record->question = from + sizeof(*record);
	record->answer = record->question + record->question_length;
	record->rule = (const char *)record->answer + record->answer_length;
	record->observer = record->rule + record->rule_length;
	record->judged = (const uint8_t *)record->observer +
	    record->observer_length;
	return true;
}

void
audit_ring_release(struct audit_ring *ring, uint64_t cursor)
{
	atomic_store_explicit(&ring->tail, cursor, memory_order_release);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring of audit records between one thread that puts and one that takes.
 * Neither waits for the other; a record for which there is no room is lost.
 */
#ifndef NFDNS_POLICY_AUDIT_RING_H
#define NFDNS_POLICY_AUDIT_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/audit/audit.h"

/* Octets of one ring; a power of two. */
#define AUDIT_RING_SIZE ((uint64_t)1 << 20)

/* Positions count octets since the start; 64 bits never wrap. */
struct audit_ring {
	/* Written by the thread that puts. */
	_Alignas(64) _Atomic uint64_t head;
	_Atomic uint64_t lost;
	uint64_t known_tail;		/* tail when it was last read */
	/* Written by the thread that takes. */
	_Alignas(64) _Atomic uint64_t tail;
	uint8_t *octets;		/* AUDIT_RING_SIZE, aligned to 8 */
};

/* Allocates the octets.  0 or -ENOMEM. */
int audit_ring_init(struct audit_ring *ring)
    __attribute__((warn_unused_result));
void audit_ring_clear(struct audit_ring *ring);

/* Copies the record.  False if there is no room: counted in lost. */
bool audit_ring_put(struct audit_ring *ring, const struct audit_record *record);

/* Whether a quarter of it waits to be taken.  For the thread that puts. */
bool audit_ring_is_filling(struct audit_ring *ring);

/* The position behind the newest record. */
uint64_t audit_ring_end(const struct audit_ring *ring);

/*
 * Takes the record at *cursor, which starts at ring->tail, and moves the
 * cursor. The record's octets are views into the ring until the release.  False
 * at "end".
 */
bool audit_ring_next(const struct audit_ring *ring, uint64_t *cursor,
    uint64_t end, struct audit_record *record);

/* Frees the room before cursor. */
void audit_ring_release(struct audit_ring *ring, uint64_t cursor);

#endif

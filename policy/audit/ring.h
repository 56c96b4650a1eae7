/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring of audit records between one thread that puts and one that takes.
 * Neither ever waits for the other; a record that finds no room is not put.
 */
#ifndef NFDNS_POLICY_AUDIT_RING_H
#define NFDNS_POLICY_AUDIT_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/audit/audit.h"

/* Octets of one ring; a power of two. */
#define AUDIT_RING_SIZE ((uint64_t)1 << 20)

/* Positions count octets since the start; they never wrap in a lifetime. */
struct audit_ring {
	/* Written by the thread that puts. */
	_Alignas(64) _Atomic uint64_t head;
	_Atomic uint64_t lost;
	uint64_t known_tail;		/* as it was when last looked at */
	/* Written by the thread that takes. */
	_Alignas(64) _Atomic uint64_t tail;
	uint8_t *octets;		/* AUDIT_RING_SIZE, aligned to 8 */
};

/* The octets' memory.  0 or -ENOMEM. */
int audit_ring_init(struct audit_ring *ring)
    __attribute__((warn_unused_result));
void audit_ring_clear(struct audit_ring *ring);

/* False if there was no room: counted in lost. */
bool audit_ring_put(struct audit_ring *ring, const struct audit_record *record);

/* Behind the newest record. */
uint64_t audit_ring_end(const struct audit_ring *ring);

/*
 * The record at *cursor, which starts from ring->tail; its octets are views
 * into the ring until the release.  False at "end".
 */
bool audit_ring_next(const struct audit_ring *ring, uint64_t *cursor,
    uint64_t end, struct audit_record *record);

/* Gives the room before cursor back. */
void audit_ring_release(struct audit_ring *ring, uint64_t cursor);

#endif

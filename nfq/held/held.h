/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions whose packets wait in the queue for answers: a copy of each packet,
 * for the headers of the answer, and of the chain of CNAMEs that is followed.
 */
#ifndef NFDNS_NFQ_HELD_HELD_H
#define NFDNS_NFQ_HELD_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nfq/ask/engine.h"
#include "nfq/held/held_packet.h"
#include "resolver/answer/chase.h"

#define HELD_PACKET_MAX	2048
#define HELD_CHAIN_MAX	2048

struct held {
	struct engine_client client;	/* first: a client is its held question */
	struct held_packet held;	/* of octets[] */
	struct chase chase;		/* of chain[], if it is followed, */
	struct engine_end end;		/* for its end */
	unsigned int round;		/* of the holder, in which it came */
	SLIST_ENTRY(held) entry;	/* of the free ones */
	STAILQ_ENTRY(held) turn;	/* of those that were not asked yet: turns.h */
	uint8_t octets[HELD_PACKET_MAX];
	uint8_t chain[HELD_CHAIN_MAX];
};

SLIST_HEAD(held_list, held);

struct held_table {
	struct held *all;
	struct held_list free;		/* those of the first "most" */
	uint32_t count;			/* in use */
	uint32_t most, max;		/* that were ever in use, and may be */
};

/* For so many questions; memory is touched as they come.  0 or -ENOMEM. */
int held_open(struct held_table *table, uint32_t max)
    __attribute__((warn_unused_result));
void held_close(struct held_table *table);

/*
 * Takes a free place for a packet of that length, for held_packet_keep(); NULL:
 * there is none, or the packet is longer than HELD_PACKET_MAX.
 */
struct held *held_take(struct held_table *table, size_t length);
void held_give(struct held_table *table, struct held *held);

static inline struct held *
held_of(struct engine_client *client)
{
	return (struct held *)client;
}

#endif

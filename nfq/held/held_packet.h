/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A question whose packet waits in the queue for its answer: what the answer and
 * the audit record need.
 */
#ifndef NFDNS_NFQ_HELD_HELD_PACKET_H
#define NFDNS_NFQ_HELD_HELD_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/packet/intercept.h"
#include "nfq/queue/queue_packet.h"
#include "nfq/thread/answering_thread.h"

struct held_packet {
	uint32_t id;
	uint32_t mark;
	uint32_t device;		/* struct asker */
	bool guest;
	uid_t uid;
	gid_t gid;
	uint64_t received_ns;
	struct decision decision;
	struct policy_note note;
	struct packet packet;		/* of a copy of the octets */
};

/*
 * Copies a packet to "octets", which have room for it and stay as long as *held,
 * and with it what is known of it.  The interception is of that packet, and its
 * form PACKET_OK.
 */
void held_packet_keep(struct held_packet *held, const struct queue_packet *p,
    const struct interception *i, uint64_t received_ns, uint8_t *octets);

/*
 * Records what was decided, if anybody wants it.  queue: its number.  answer: the
 * DNS message; length 0: there is none.
 */
void held_packet_record(const struct held_packet *held,
    struct answering_thread *thread, uint16_t queue, const uint8_t *answer,
    size_t length);

/*
 * Before the client of a held packet gets an answer that others gave: the rules judge
 * the answer's names, for this asker.  "known" of its records are the table's, and
 * were judged.  False: the answer is the client's.  True: it is not; i has the
 * decision and the reply, if there is one, and *held what to record.  i is of no
 * other use meanwhile; the octets may lie in "reply".
 */
bool held_packet_deny(struct held_packet *held,
    const struct answering_thread *thread, struct interception *i,
    const struct policy_answer *answer,
    uint8_t reply[static INTERCEPT_REPLY_MAX]);

/*
 * What a record says of any packet that intercept_parse() was given and whose
 * family is known.  Borrows it.
 */
void held_packet_describe(struct audit_record *record,
    const struct packet *packet);

#endif

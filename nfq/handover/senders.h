/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which user opened a connection: the threads of the queue see the first packet
 * and its user (NFQA_UID), the TCP thread accepts the connection.  Memory that
 * all processes forked from this one share, so a connection that waits to be
 * accepted keeps its user when the worker is replaced.  Without locks; an entry
 * that is not taken is overwritten after some 16,000 others.
 */
#ifndef NFDNS_NFQ_HANDOVER_SENDERS_H
#define NFDNS_NFQ_HANDOVER_SENDERS_H

#include <stdint.h>
#include <sys/types.h>

/* Both ends; IPv4 stands in the first 4 octets.  What is unused is zero. */
struct sender_ends {
	uint8_t client[16], server[16];
	uint16_t client_port;
	uint16_t zero;
};

struct senders;

/* NULL for lack of memory. */
struct senders *senders_new(void);
void senders_free(struct senders *senders);

void senders_put(struct senders *senders, const struct sender_ends *ends,
    uid_t uid);

/* The user; (uid_t)-1 if nobody knows. */
uid_t senders_take(struct senders *senders, const struct sender_ends *ends);

#endif

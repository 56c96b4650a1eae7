/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a client gets: an upstream's reply, a kept message, or a failure of ours. */
#ifndef NFDNS_NFQ_ASK_CLIENT_MESSAGE_H
#define NFDNS_NFQ_ASK_CLIENT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfq/ask/message.h"
#include "resolver/dns/rr.h"

/* The bounds that a message's TTLs are put into, and what is taken off then. */
struct message_ttl {
	uint32_t min, max;		/* seconds */
	uint32_t soa_max;		/* of the authority's SOA, besides */
	uint32_t age;
};

struct client_message {
	const struct question *question;	/* the client's */
	bool stream;			/* only "size" bounds the message */
	bool ad;			/* AD is handed on */
	bool cut;			/* nobody has more: as many answers as fit, no TC */
	bool cached;			/* not authoritative, whoever said so */
	struct message_ttl ttl;
	uint16_t ede;			/* EDE_NONE: those of the message */
	uint16_t *options;		/* NULL, or set to the octets of its OPT's */
};

/* No answer over UDP is longer, whatever the client offers. */
#define CLIENT_UDP_MAX	4096

/* Octets that a client takes, of "size" that there are. */
size_t client_message_limit(const struct question *question, bool stream,
    size_t size);

/*
 * Writes what a client gets of a message that answers its question: with its id,
 * its letter case, and an OPT if and only if its question had one.  A message
 * that does not fit goes without its additional records, then without its
 * authority; an answer that does not fit has no records, and TC; with "cut" it has
 * those that fit, or it is SERVFAIL if not one does.  With "cut", and over TCP, a
 * truncated message without answers is SERVFAIL, too.  "size" is at least 512; "out"
 * does not overlap.  Returns the length.
 */
size_t client_message_write(const struct client_message *how,
    const struct message *message, uint8_t *out, size_t size);

/* The same without records: a failure of ours. */
size_t client_message_error(const struct client_message *how, uint16_t rcode,
    uint8_t *out, size_t size);

#endif

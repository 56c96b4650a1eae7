/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages to and from upstreams: a checked view of any message, the question
 * that an upstream gets, and whether what came back belongs to it.
 */
#ifndef NFDNS_NFQ_ASK_MESSAGE_H
#define NFDNS_NFQ_ASK_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/dns/message.h"
#include "resolver/dns/question.h"

enum message_section { QUESTIONS, ANSWERS, AUTHORITY, ADDITIONAL, SECTIONS };

/* A view: borrows the octets.  All records lie within them. */
struct message {
	const uint8_t *octets;
	size_t length;
	uint16_t id;
	uint16_t flags;			/* the header's second word */
	uint16_t rcode;			/* with the OPT's upper bits */
	uint16_t count[SECTIONS];	/* ADDITIONAL: those before the OPT */
	size_t end[SECTIONS];		/* where each ends, counted as above */
	bool edns;			/* there is one OPT */
	bool dnssec_ok;
	const uint8_t *options;
	size_t options_length;
};

/* One record of a view. */
struct message_record {
	size_t owner;			/* offset of its name */
	size_t ttl_at;			/* offset of its TTL */
	size_t data;			/* offset */
	uint16_t type, class, rdlength;
	uint32_t ttl;
};

/* One EDNS option. */
struct message_option {
	uint16_t code, length;
	const uint8_t *octets;
};

/*
 * Reads a whole message.  False: it is malformed; counts, owners or lengths that
 * overrun it, a second OPT or one outside the additional section.  Names within
 * records' data are not looked at.  Records behind the OPT (TSIG) are left out.
 */
bool message_read(struct message *message, const uint8_t *octets,
    size_t length) __attribute__((warn_unused_result));

/*
 * The record at *offset, which is moved behind it; begin with message.end of
 * the section before.  Only for offsets below the section's end.
 */
void message_record(const struct message *message, size_t *offset,
    struct message_record *record);

/* Leaves the answers that end within so many octets, and no other records. */
void message_cut(struct message *message, size_t limit);

/* The option at *offset of a message's options, or false at their end. */
bool message_option(const struct message *message, size_t *offset,
    struct message_option *option);

/* The first extended error of a message (RFC 8914); EDE_NONE: it has none. */
uint16_t message_ede(const struct message *message);

/*
 * Options that are handed on, up and down: all but those between two hops, which
 * are Cookie (RFC 7873), Keepalive (RFC 7828) and Padding (RFC 7830).
 */
#define MESSAGE_OPTIONS_MAX 512
struct message_options {
	size_t length;
	uint8_t octets[MESSAGE_OPTIONS_MAX];
};

/* Those of a message; none if they are longer than MESSAGE_OPTIONS_MAX. */
void message_options(struct message_options *options,
    const struct message *message);

/* Random case of a name's letters: bit i of it is octet i's. */
#define MESSAGE_MASK	32

/* The question for an upstream. */
struct message_ask {
	const struct question *question;
	const struct message_options *options;	/* may be NULL */
	bool edns;			/* with an OPT */
	bool ad;			/* AD: the upstream tells what it validated */
	bool pad;			/* the OPT has padding (RFC 8467 section 4.1) */
	const uint8_t *mask;		/* NULL: all lower case */
};

#define MESSAGE_PAD	128	/* a padded question is so many octets, or twice, ... */
#define MESSAGE_ASK_MAX \
	(DNS_HEADER + NAME_MAX_OCTETS + 4 + 11 + MESSAGE_OPTIONS_MAX + \
	4 + MESSAGE_PAD)
#define MESSAGE_UDP_SIZE 1232	/* of our OPT: no fragments (DNS flag day 2020) */

/* Writes it; RD, CD and DO are the client's.  Returns its length. */
size_t message_ask(const struct message_ask *ask, uint16_t id,
    uint8_t out[static MESSAGE_ASK_MAX]);

enum message_fit {
	FIT_ANSWER,		/* it answers the question; the view is filled */
	FIT_OTHER,		/* another id or question, or no response: skipped */
	FIT_BROKEN,		/* it does not parse: a failure of the upstream */
};

/*
 * What came for a question with that id and mask (RFC 5452 section 9.1; address
 * and port are the socket's).  An error without a question section is an answer.
 */
enum message_fit message_fit(struct message *message,
    const struct question *question, uint16_t id, const uint8_t *mask,
    const uint8_t *octets, size_t length);

#endif

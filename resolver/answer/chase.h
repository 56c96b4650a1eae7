/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A chain of CNAMEs that leaves the table: the question for its last target,
 * and the client's answer, made of the chain and of what a nameserver said of
 * the target.
 */
#ifndef NFDNS_RESOLVER_ANSWER_CHASE_H
#define NFDNS_RESOLVER_ANSWER_CHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/dns/question.h"

/* Header, question and an OPT without options. */
#define CHASE_QUESTION_MAX	(12 + NAME_MAX_OCTETS + 4 + 11)

/*
 * A view of what answer_build() wrote for an ANSWER_CHAIN with "stream", and
 * of what it said of it.
 */
struct chase {
	const uint8_t *chain;		/* a message: the client's answer so far */
	size_t length;
	size_t target;			/* offset of the target's name in it */
	bool edns;			/* the client's question had an OPT */
};

/*
 * Writes the question for the target: type, RD, CD, OPT and DO are as in the
 * client's question, from which no option is taken over.  Returns its length.
 */
size_t chase_question(const struct chase *chase, const struct question *asked,
    uint16_t id, uint8_t buf[static CHASE_QUESTION_MAX]);

/*
 * Whether a message answers what chase_question() wrote: the same id and the
 * same question, letters of any case, or an error without a question.
 */
bool chase_is_answer(const uint8_t *question, size_t question_length,
    const uint8_t *message, size_t length);

/*
 * Writes the client's answer: the chain, then all records of the nameserver's
 * answer but its OPT and TSIG, and its code, NXDOMAIN and SERVFAIL, too
 * (RFC 6604 section 3); TC if that has it.  Ends with an empty OPT if the
 * client's question had one.  Any octets are allowed.  0 and *out_length,
 * or -EBADMSG: they are no DNS answer; -EMSGSIZE: it does not fit into size
 * octets, of which the chain must not need more than half.
 */
int chase_join(const struct chase *chase, const uint8_t *message, size_t length,
    uint8_t *out, size_t size, size_t *out_length)
    __attribute__((warn_unused_result));

/* The chain and SERVFAIL, into chase->length octets. */
size_t chase_fail(const struct chase *chase, uint8_t *out);

#endif

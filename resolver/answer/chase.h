/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completes a chain of CNAMEs that leaves the table: writes the question for
 * its last target, and joins the chain and the nameserver's answer to that
 * question into the client's answer.
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
 * What answer_build() wrote for an ANSWER_CHAIN with "stream", borrowed, and
 * its summary.
 */
struct chase {
	const uint8_t *chain;		/* the client's answer so far, a message */
	size_t length;
	size_t target;			/* offset of the target's name in it */
	size_t opt;			/* octets of the OPT at its end; 0: none */
};

/* That of an answer to such a question, with so many octets of options. */
static inline size_t
chase_opt(bool edns, size_t options)
{
	return edns ? 11 + options : 0;
}

/*
 * Writes the question for the target.  Type, RD, CD, DO and whether there is an
 * OPT are as in the client's question; its EDNS options are not copied.
 * Returns its length.
 */
size_t chase_question(const struct chase *chase, const struct question *asked,
    uint16_t id, uint8_t buf[static CHASE_QUESTION_MAX]);

/*
 * Writes the client's answer: the chain, all records of the nameserver's answer
 * except OPT and TSIG, its TC flag, and its response code (RFC 6604 section 3).
 * It ends with the chain's OPT, if there is one.  The
 * message may be any octets.  The chain takes at most half of the size octets.
 * Returns 0 and *out_length; -EBADMSG if the message is no DNS answer, or one
 * whose compressed names cost too much to read; or -EMSGSIZE if the result does
 * not fit.
 */
int chase_join(const struct chase *chase, const uint8_t *message, size_t length,
    uint8_t *out, size_t size, size_t *out_length)
    __attribute__((warn_unused_result));

/* Writes the chain with SERVFAIL: chase->length octets, which it returns. */
size_t chase_fail(const struct chase *chase, uint8_t *out);

#endif

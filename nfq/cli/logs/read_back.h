/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records read back from the formats pcapng and dnstap, whose octets may be
 * anything.
 */
#ifndef NFDNS_NFQ_CLI_LOGS_READ_BACK_H
#define NFDNS_NFQ_CLI_LOGS_READ_BACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "policy/audit/audit.h"
#include "nfq/cli/logs/reader.h"
#include "resolver/dns/name.h"

/* A record, and what it points to. */
struct audit_read_back {
	struct audit_record record;
	char rule[AUDIT_RULE_MAX], observer[AUDIT_RULE_MAX];
	struct dns_name judged;
	uint8_t question[UINT16_MAX], answer[UINT16_MAX];
};

/*
 * Reads the record of a piece (audit_reader_next()).  What the format does not
 * keep is 0: "queue", and of a dnstap of another program more.  False: the piece
 * is no record, or one that makes no sense.
 */
bool audit_read_back(struct audit_read_back *back,
    enum audit_format_number format, const struct audit_reading *reading,
    const uint8_t *octets);

/* Adds octets to a message of it, as many as there is room for. */
static inline void
audit_read_back_message(struct audit_read_back *back, bool answer,
    const uint8_t *octets, size_t length)
{
	struct audit_record *r = &back->record;
	uint16_t *have = answer ? &r->answer_length : &r->question_length;
	uint8_t *to = answer ? back->answer : back->question;

	if (length > (size_t)UINT16_MAX - *have)
		length = (size_t)UINT16_MAX - *have;
	if (length > 0)
		memcpy(to + *have, octets, length);
	*have = (uint16_t)(*have + length);
}

/*
 * The messages, addresses and times of the piece.  *asked_ns: when the question
 * came; record.time_ns: of the answer, 0 if there is none.  *text: where the
 * text that ends with the seal begins.  False: there is no question.
 */
bool audit_read_pcapng(struct audit_read_back *back, uint64_t *asked_ns,
    size_t *text, const struct audit_reading *reading, const uint8_t *octets);
bool audit_read_dnstap(struct audit_read_back *back, uint64_t *asked_ns,
    size_t *text, const struct audit_reading *reading, const uint8_t *octets);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interception: bytes of a packet in; step, reason and the bytes of the
 * reply out.  gather (packet, question, lookup), decide (policy/decide.h),
 * act (answer, headers), in that order and never back.  No system call, no
 * allocation, no lock: it runs the same in the worker, in tests and in fuzzers.
 */
#ifndef NFDNS_NFQ_PACKET_INTERCEPT_H
#define NFDNS_NFQ_PACKET_INTERCEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfq/packet/packet.h"
#include "policy/decide.h"
#include "resolver/answer/answer.h"
#include "resolver/image/lookup.h"
#include "resolver/dns/question.h"
#include "resolver/image/table.h"

/* Largest reply: the UDP answer behind the longest headers that are kept. */
#define INTERCEPT_REPLY_MAX (ANSWER_UDP_MAX + PACKET_HEADERS_MAX)

/* Largest answer over TCP: RFC 1035 section 4.2.2. */
#define INTERCEPT_STREAM_MAX 65535

/* The name that tells the version, beside DECIDE_CANARY_NAME: dig CH TXT version.nfdns */
#define INTERCEPT_VERSION_NAME "version.nfdns."

/*
 * Everything about one packet after interception.  Views borrow from the
 * packet, the table and the reply buffer.  What a comment limits is not even
 * initialised otherwise: it is all too large to clear for every packet.
 */
struct interception {
	struct decision decision;
	enum packet_form form;		/* PACKET_STREAM: a TCP connection to be taken */
	bool canary;			/* our own canary: not counted as a question */
	struct answer_summary summary;	/* when answer_length is not 0 */
	const uint8_t *answer;		/* the DNS message inside reply */
	size_t answer_length;		/* 0: none */
	size_t reply_length;		/* 0: no reply, the packet passes or drops */
	/*
	 * Set by the caller: of a packet time, uid, gid and device, the rest
	 * by intercept_parse() when form is PACKET_OK; of a message all of it.
	 */
	struct asker asker;
	struct packet packet;		/* as far as packet.h says */
	struct question question;	/* when form is PACKET_OK */
	struct lookup lookup;		/* when the question is PLAIN */
};

/*
 * The first half needs only the packet.  length is what the queue delivered,
 * whole_length what the packet had (NFQA_CAP_LEN), in octets.  A packet that
 * the queue cut passes, as MALFORMED; octets may be NULL then.
 */
void intercept_parse(struct interception *out, const uint8_t *octets,
    size_t length, size_t whole_length);

/* Instead of intercept_parse(): the packet passes, whatever it holds. */
void intercept_unread(struct interception *out);

/*
 * Between the halves, for each of several packets: loads into the CPU's cache
 * what the second half will read.  This pays only if table_is_large().
 */
void intercept_fetch(const struct interception *in, const struct table *table,
    enum table_part part);

/*
 * The second half looks the name up, decides and builds the reply.  rotation
 * chooses which address comes first.
 */
void intercept_answer(struct interception *out,
    const struct answer_source *source, uint32_t rotation,
    uint8_t reply[static INTERCEPT_REPLY_MAX]);

/* Both halves, for a packet of an unknown user at an unknown time: for tests. */
void intercept(struct interception *out, const struct answer_source *source,
    const uint8_t *octets, size_t length, size_t whole_length,
    uint32_t rotation, uint8_t reply[static INTERCEPT_REPLY_MAX]);

/*
 * The same for a message that came over TCP.  The caller has set out->asker;
 * form, packet and reply_length have no meaning.  Writes the answer to
 * "answer", of size octets; more than INTERCEPT_STREAM_MAX are never used.
 */
void intercept_stream(struct interception *out,
    const struct answer_source *source, const uint8_t *message, size_t length,
    uint32_t rotation, uint8_t *answer, size_t size);

#endif

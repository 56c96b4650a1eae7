/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interception: takes the octets of a packet; gives a decision and the
 * octets of the reply.  Three phases, in this order: gather (packet, question,
 * lookup), decide (policy/decide.h), act (answer, headers).
 *
 * This room makes no system call, allocates nothing and takes no lock, so it
 * runs the same in the worker, in tests and in fuzzers.  It does not know where
 * packets come from.
 */
#ifndef NFDNS_NFQ_PACKET_INTERCEPT_H
#define NFDNS_NFQ_PACKET_INTERCEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfq/packet/packet.h"
#include "policy/config/forward_settings.h"
#include "policy/decide.h"
#include "policy/match/policy_gather.h"
#include "policy/match/policy_names.h"
#include "resolver/answer/answer.h"
#include "resolver/image/lookup.h"
#include "resolver/dns/question.h"
#include "resolver/image/table.h"

/* Largest reply: the UDP answer behind the longest headers that are kept. */
#define INTERCEPT_REPLY_MAX (ANSWER_UDP_MAX + PACKET_HEADERS_MAX)

/* Largest answer over TCP: RFC 1035 section 4.2.2. */
#define INTERCEPT_STREAM_MAX 65535

/* The other CHAOS name beside DECIDE_CANARY_NAME: dig CH TXT version.nfdns */
#define INTERCEPT_VERSION_NAME "version.nfdns."

/*
 * Where an answer is written: a message of a stream, or a packet, with headers
 * before its message.
 */
struct reply_room {
	uint8_t *octets;
	uint32_t size;			/* that the message may have */
	bool stream;
};

static inline struct reply_room
reply_room_of_packet(uint8_t reply[static INTERCEPT_REPLY_MAX])
{
	return (struct reply_room){ reply, ANSWER_UDP_MAX, false };
}

/*
 * Everything about one packet after interception.  Views borrow from the
 * packet, the table and the reply buffer.  A member whose comment has a
 * condition is not initialised unless the condition holds: the struct is too
 * large to clear for each packet.
 */
struct interception {
	struct decision decision;
	enum packet_form form;		/* PACKET_STREAM: TCP, to be taken over */
	bool canary;			/* our own canary: not counted as a question */
	bool others;			/* a name that is forwarded: none of ours */
	struct answer_summary summary;	/* when answer_length is not 0 */
	const uint8_t *answer;		/* the DNS message inside reply */
	size_t answer_length;		/* 0: none */
	size_t reply_length;		/* 0: no reply; it passes or is dropped */
	/*
	 * For a packet, the caller sets time, uid, gid and device, and
	 * intercept_parse() the rest, as far as it is known.  For a message
	 * over TCP, the caller sets all of it.
	 */
	struct asker asker;
	/*
	 * For a packet, the caller sets these two as well.  NULL: no thread
	 * forwards questions.
	 */
	const struct forward_settings *forward;
	bool forward_full;		/* too many wait for answers */
	uint32_t domain;		/* of a packet's name, its place in forward:
					 * when the reason is FORWARD or
					 * FORWARD_FULL */
	/*
	 * The caller sets these three always.  Without rules, policy is NULL.  An
	 * unanswerable one, such as to a group of hosts, can be given no answer: it
	 * is dropped if a rule denies it, and passes else.  One that is unowned, of
	 * a user who is not known any more, is dropped if a rule could deny anybody
	 * something.
	 */
	const struct policy_source *policy;
	bool unanswerable, unowned;
	bool judged;			/* by the policy: found is set */
	struct policy_found found;
	struct packet packet;		/* as far as packet.h says */
	struct question question;	/* when form is PACKET_OK */
	struct lookup lookup;		/* when the question is PLAIN or judged */
};

/*
 * The first half needs only the packet.  length is what the queue delivered,
 * whole_length what the packet had (NFQA_CAP_LEN), in octets.  The message of a
 * packet that the queue cut is MALFORMED, but may be readable.  octets may be
 * NULL if length is 0.
 */
void intercept_parse(struct interception *out, const uint8_t *octets,
    size_t length, size_t whole_length);

/*
 * Behind it, for a container's question.  Its interface may have a smaller MTU than lo
 * has, and an answer to it does not go in fragments; what fits into the smallest MTU of
 * IPv6 (RFC 8200 section 5) arrives.
 */
static inline void
intercept_limit(struct question *question)
{
	if (question->edns.udp_size > 1280 - 48)
		question->edns.udp_size = 1280 - 48;
}

/*
 * The same for a message that came over TCP.  The caller has set out->asker, whole,
 * and out->forward, which is not looked at: who has the stream forwards.
 */
void intercept_message(struct interception *out, const uint8_t *octets,
    size_t length);

/* Behind intercept_parse(): the same of a connection (STREAM) that nobody takes. */
void intercept_untaken(struct interception *out);

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
    struct reply_room room);

/* What the policy says for the audit. */
struct policy_note intercept_note(const struct interception *in);

/* The same after intercept_judge(): what was noted of the question before stays. */
struct policy_note intercept_note_again(const struct interception *in,
    const struct policy_note *before);

/* Whether to record the question, if its decision alone says "usual". */
bool intercept_is_recorded(const struct interception *in, bool usual);

/*
 * For a packet with the decision REASON_CHASE: writes the chain of CNAMEs, as a
 * message, into buf of "size" octets, at least 512; answer, answer_length and
 * summary are set.  False: it does not fit.
 */
bool intercept_chain(struct interception *out,
    const struct answer_source *source, uint8_t *buf, size_t size);

/*
 * Both halves, for a packet of an unknown user at an unknown time, with the
 * policy that the caller has set: for tests.
 */
void intercept(struct interception *out, const struct answer_source *source,
    const uint8_t *octets, size_t length, size_t whole_length,
    uint32_t rotation, uint8_t reply[static INTERCEPT_REPLY_MAX]);

/*
 * For an answer that is not the table's, before the client gets it: fresh, kept, of
 * an upstream or of a nameserver that was asked for a chain's end.  Asker, policy,
 * packet, question and decision are those of intercept_answer(); of
 * "found", nothing but what may be noted need be set.  True: a rule denies a name
 * of the answer, or nobody can read its names; decision, found and reply are the
 * rule's then, for this asker, and intercept_note() says which name.  False: the
 * answer is the client's; answer and reply lengths are 0, nothing else has changed.
 * "given" may lie in the room.
 */
bool intercept_judge(struct interception *out,
    const struct answer_source *source, const struct policy_answer *given,
    struct reply_room room);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decide phase: a pure function from facts to a decision with its reason.
 * decide.c begins with the rules in order; packaging/doc/answers.md has the
 * same rules.  This room reads no packet, no clock and no configuration.
 */
#ifndef NFDNS_POLICY_DECIDE_H
#define NFDNS_POLICY_DECIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/rule.h"
#include "resolver/clock.h"
#include "resolver/answer/answer.h"
#include "resolver/image/lookup.h"
#include "resolver/dns/question.h"
#include "resolver/image/table.h"

enum verdict {
	VERDICT_PASS,		/* the packet goes on, bit for bit */
	VERDICT_ANSWER,		/* records */
	VERDICT_NODATA,
	VERDICT_NXDOMAIN,
	VERDICT_REFUSE,		/* an error code and nothing else */
	VERDICT_DROP,
	VERDICT_FORWARD,	/* upstreams are asked for the answer */
	VERDICTS
};

/* Why; decide_reason_text() has their names in audit log and scenarios. */
enum reason {
	REASON_NOT_MESH,	/* the name is not in the table: pass */
	REASON_MALFORMED,	/* packet or message that does not parse: pass */
	REASON_NOT_QUERY,	/* QR = 1, or another opcode: pass */
	REASON_NO_QUESTION,	/* QDCOUNT = 0: pass */
	REASON_CLASS,		/* class other than IN: pass */
	REASON_SIGNED,		/* TSIG or SIG(0): pass */
	REASON_TRANSFER,	/* AXFR, IXFR: pass */
	REASON_OTHER_TYPE,	/* overlaid public name, type it lacks: pass */
	REASON_UNLOADED,	/* no table yet: pass or SERVFAIL */
	REASON_MANY_QUESTIONS,	/* QDCOUNT > 1: FORMERR */
	REASON_MANY_OPT,	/* two OPT records: FORMERR */
	REASON_EDNS_VERSION,	/* BADVERS for a mesh name */
	REASON_RECORD,		/* exact name, records */
	REASON_WILDCARD,	/* records of a wildcard */
	REASON_SEARCH,		/* records through the search list */
	REASON_ADDRESS_TYPE,	/* the other address family: NODATA */
	REASON_OWNED_TYPE,	/* type that a mesh-owned name lacks: NODATA */
	REASON_SUPPRESSED,	/* HTTPS or SVCB of an overlaid name: NODATA */
	REASON_EMPTY_NAME,	/* empty non-terminal or zone apex: NODATA */
	REASON_ZONE_SOA,	/* SOA of a zone's apex: answer */
	REASON_UNKNOWN_NAME,	/* under a zone with unknown = "nxdomain" */
	REASON_OWN_NAME,	/* CHAOS TXT of nfdns itself */
	REASON_UNREACHABLE,	/* TCP: the nameserver did not answer: SERVFAIL */
	REASON_FORWARD,		/* name of a forward domain */
	REASON_CHASE,		/* CNAMEs that leave the table are followed */
	REASON_FORWARD_FULL,	/* too many questions wait for their answers */
	REASON_FORWARD_DENIED,	/* the answer that others gave: a rule denies one of
				 * its names, or none could judge them: SERVFAIL;
				 * or its form keeps the question from being
				 * forwarded, so no rule could: REFUSED */
	REASON_CACHE,		/* name of a forward domain: the answer is kept */
	REASON_POLICY,		/* a rule says so, of the name asked or one that it
				 * is answered from; its number stands beside it */
	REASON_RATE,		/* the same: over the rule's limit */
	REASON_UNANSWERABLE,	/* from a foreign address or to several hosts, and
				 * no rule denies it: pass */
	REASON_UNJUDGED,	/* its user or its question is not known, and a
				 * rule could deny it: drop */
	REASON_UNREADABLE,	/* no question to judge, of somebody whom a rule
				 * could deny: dropped */
	REASONS
};

/*
 * The name of the supervisor's canary question, class CH, type TXT: it proves
 * that questions reach the queue and answers come back.
 */
#define DECIDE_CANARY_NAME "canary.nfdns."

/*
 * The asker: user, address and time of a question.  User, group and device are
 * NFQA_UID, NFQA_GID and NFQA_IFINDEX_INDEV of its packet, or of the first
 * packet of its TCP connection.
 */
struct asker {
	monotime_t now;			/* when the batch of packets was read, or
					 * the round of the TCP thread began */
	uid_t uid;			/* of the socket; (uid_t)-1: not known */
	gid_t gid;			/* of the socket; (gid_t)-1: not known */
	uint8_t family;			/* AF_INET or AF_INET6 */
	uint8_t protocol;		/* IPPROTO_UDP or IPPROTO_TCP */
	uint16_t port;			/* source port, host order */
	uint32_t device;		/* index of the interface by which it came;
					 * 0: from the machine itself */
	const uint8_t *address;		/* source, 4 or 16 octets */
	/* For rules of the policy, and only set if there are any: */
	const uint8_t *nameserver;	/* destination, as long; NULL: unknown */
};

/*
 * What the policy says about a question: the rule that decides.  Rules that
 * only observe are none.
 */
struct ruling {
	uint16_t rule;			/* its number, from 1; 0: none decides */
	bool limited;			/* the rule's rate is used up: action says
					 * what happens over it */
	enum rule_only only;		/* of RULE_FILTER */
	enum rule_action action;
};

/* Whether a filter leaves no records of the type. */
bool ruling_filters(const struct ruling *ruling, uint16_t type);

/* All that a decision may depend on.  Borrows everything it points to. */
struct facts {
	const struct question *question;
	const struct lookup *lookup; /* NULL unless the form is PLAIN */
	const struct answer_settings *settings;
	const struct asker *asker;
	const struct ruling *ruling;	/* NULL: no rule decides */
	bool loaded;			/* a table has loaded: table_is_loaded() */
	bool own_name;			/* canary.nfdns or version.nfdns, CH TXT */
	bool could_deny;		/* the question cannot be read, and a rule
					 * could deny the asker something */
	bool unforwardable;		/* not PLAIN, of a forward domain, and a
					 * rule could deny the asker something */
};

struct decision {
	enum verdict verdict;
	enum reason reason;
	enum answer_content content;	/* unless PASS or DROP */
	uint16_t rcode;
	/*
	 * The policy rule that made the decision, from 1; 0: none.  A number,
	 * since a decision may outlive the generation that holds the rule's
	 * name.
	 */
	uint16_t rule;
};

struct decision decide(const struct facts *facts);

/*
 * The decision about a packet without a question that can be read, which passes
 * for this reason unless a rule could deny its asker something.
 */
struct decision decide_unread(enum reason reason, bool could_deny);

/*
 * The extended error (RFC 8914) of a decision that a rule made, if the rule
 * answers by itself.
 */
enum extended_error decide_error(const struct ruling *ruling,
    const struct decision *decision);

/* What forwarding makes of a question; FORWARDING_NONE: nothing. */
enum forwarding {
	FORWARDING_NONE,
	FORWARDING_ASK,		/* ask the domain's upstreams */
	FORWARDING_FULL,	/* too many wait for their answers */
};

/*
 * Whether a question that passes for this reason is about a name that others
 * know: only such are forwarded, and the caller looks their domain up.
 */
bool decide_is_for_others(const struct decision *decision);

/*
 * Whether the answer ends with a name outside the table, and the client wants
 * it followed (RD = 1).
 */
bool decide_leaves_table(const struct facts *facts,
    const struct decision *decision);

/* The decision about a question for others, of a domain with forwarding. */
struct decision decide_forwarding(const struct facts *facts,
    enum forwarding forwarding);

/*
 * What the answer of a nameserver says: ANSWER, NXDOMAIN, REFUSE (any other
 * response code), or NODATA if no record of the type asked for is in it
 * (RFC 2308, 2.2).  An answer that is cut has the records: ANSWER.  Any octets,
 * at least a header.
 */
enum verdict decide_verdict_of(const uint8_t *message, size_t length);

/* The decision about such a question whose answer is kept. */
struct decision decide_cached(const uint8_t *message, size_t length);

/* The decision about an answer whose names no rule could judge: SERVFAIL. */
struct decision decide_unreadable(void);

/* The decision about a chain that leaves the table and is followed. */
struct decision decide_chase(const struct decision *decision);

/*
 * Whether such a question is for others: of a forward domain, answered or not, or
 * with a chain that is followed.
 */
static inline bool
decide_is_forwarded(enum reason reason)
{
	return reason == REASON_FORWARD || reason == REASON_CHASE ||
	    reason == REASON_CACHE || reason == REASON_FORWARD_FULL ||
	    reason == REASON_FORWARD_DENIED;
}

const char *decide_verdict_text(enum verdict verdict);	/* "pass", "answer", ... */
const char *decide_reason_text(enum reason reason);	/* "not-mesh", ... */
const char *decide_action_text(enum rule_action action);	/* "nxdomain", ... */

#endif

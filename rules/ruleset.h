/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What we want in the kernel: table inet nfdns as values.  One list of rules
 * that the text form (print.c), the netlink batch (kernel.c) and the check
 * against the kernel (verify.c) are all made from, so they cannot differ.
 */
#ifndef NFDNS_RULES_RULESET_H
#define NFDNS_RULES_RULESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "policy/config/config.h"
#include "resolver/text/diag.h"
#include "rules/address_set.h"

#define RULES_TABLE		"nfdns"		/* family inet */

/* The last of them are only there if TCP is captured. */
enum rules_chain {
	CHAIN_QUESTION,		/* output: what is queued */
	CHAIN_VERDICT,		/* output: what becomes of it behind the queue */
	CHAIN_STREAM,		/* output, between them: packets of TCP connections */
	CHAIN_ARRIVAL,		/* prerouting: those that come back from lo */
	CHAINS
};

/* What a base chain is; "type" is "filter" or "route". */
struct rules_chain_form {
	const char *name;
	const char *type;
	unsigned int hook;	/* enum nf_inet_hooks */
	int priority;
};

/*
 * The condition of a rule.  The first two send everything that is not DNS on
 * its way, so that the rules after them need not look at the protocol again,
 * but for those that queue: they match UDP and port 53 once more, so that no
 * edit of the others can ever queue a packet of another protocol.
 */
enum rule_match {
	MATCH_NOT_UDP,
	MATCH_NOT_PORT53,
	MATCH_USER, MATCH_GROUP, MATCH_MARK, MATCH_CGROUP, MATCH_CLASSID,
	MATCH_DESTINATION4, MATCH_DESTINATION6,	/* in a set */
	MATCH_NAMESERVER4, MATCH_NAMESERVER6,	/* UDP port 53 to an address in a set */
	/* What cannot be answered: */
	MATCH_FOREIGN_SOURCE,			/* from an address that is not local */
	MATCH_BROADCAST,			/* IPv4 */
	MATCH_MULTICAST4, MATCH_MULTICAST6,
	MATCH_QUESTION,		/* UDP port 53 to anywhere */
	MATCH_REPEATED,		/* the same, marked as passed already */
	/* TCP.  A connection's first packet has SYN and not ACK, RST or FIN. */
	MATCH_NOT_TCP,
	MATCH_CONNECTION,	/* the first, port 53 to anywhere */
	MATCH_CONNECTION4, MATCH_CONNECTION6,	/* the first, to an address in a set */
	MATCH_FIRST4, MATCH_FIRST6,
	MATCH_FIRST_MARKED,	/* the first, marked by the verdict */
	MATCH_FIRST_MARKED4, MATCH_FIRST_MARKED6,
	/* What follows, of connections in the set of them: */
	MATCH_LATER4, MATCH_LATER6,	/* any packet of the client */
	MATCH_RESET4, MATCH_RESET6,	/* its RST */
	MATCH_DATA4, MATCH_DATA6,	/* its PSH, which ends all that is written */
	/* Our side's carry the mark of answers, as its sockets do. */
	MATCH_ANSWER4, MATCH_ANSWER6,	/* its PSH */
	MATCH_END4, MATCH_END6,		/* its FIN or RST */
	MATCH_NOT_STREAMS,		/* not to port 53, and not our side's */
	MATCH_NOT_STREAM,	/* not marked as stream */
	MATCH_NOT_LOOPBACK,	/* did not come from lo */
	MATCH_ARRIVED4, MATCH_ARRIVED6,	/* marked, to TCP port 53 */
	MATCH_ARRIVED_SCOPED,	/* the same from a link-local address, not the first */
};

enum rule_action {
	ACTION_ACCEPT,
	ACTION_QUEUE,		/* mark |= passed, then queue with bypass */
	ACTION_SET_ZONE,	/* ct original zone set, clear the mark's bits, accept */
	ACTION_CLEAR,		/* clear the mark's bits, accept */
	ACTION_NOTRACK,		/* and accept */
	ACTION_QUEUE_STREAM,	/* queue with bypass, the mark as it is */
	ACTION_REMEMBER,	/* into the set of connections, accept */
	ACTION_FORGET,		/* out of it, accept */
	ACTION_RENEW,		/* its time in that set begins anew, accept */
	ACTION_DIVERT,		/* mark |= stream, which leads the packet to lo; accept */
	ACTION_RENEW_DIVERT,	/* both */
	ACTION_RELEASE,		/* clear the mark's bits, so that it leaves as it came */
	ACTION_TPROXY,		/* to our listener, accept */
	/* If the user has no budget left, accept; else on to the next rule. */
	ACTION_SURPLUS,
	ACTION_SURPLUS_MARKED,	/* mark |= passed: for the conntrack zone */
};

/* Which rules are to be in chain "question". */
enum rules_stage {
	RULES_CANARY,		/* only the canary's: no user's packet is touched */
	RULES_LEAVING,		/* so too, and what was queued passes without a zone */
	RULES_FULL,
};

/*
 * One rule.  A value, but for cgroup.path, which borrows from the config;
 * "comment" is what nft shows behind it and says in words what the rule is for
 * ("bypass: user 998").  The rules of chain "verdict" match by MATCH_MARK too.
 */
struct rule {
	enum rules_chain chain;
	enum rule_match match;
	enum rule_action action;
	bool canary;			/* the canary's own: all bits of mark_mask set */
	union {
		uint32_t id;		/* uid, gid, classid */
		struct config_mark mark;
		struct { uint64_t id; uint32_t level; const char *path; } cgroup;
	} arg;
	unsigned int seconds;		/* of REMEMBER and RENEW*: until it is forgotten */
	char comment[96];
};

/* Comments of the rules whose counters do not count users' questions. */
#define RULES_COMMENT_CANARY	"canary"
#define RULES_COMMENT_REPEATED	"repeated: counted before"
/* Of the rule whose counter says how often the sets of connections were full. */
#define RULES_COMMENT_FULL	"too many to remember: not intercepted"
/* How the comments of rules with ACTION_SURPLUS* begin. */
#define RULES_COMMENT_SURPLUS	"over capture.user_rate: "

/* Which set a rule looks into; also its place in ruleset.sets. */
enum rules_set_id {
	SET_BYPASS4, SET_BYPASS6, SET_NAMESERVERS4, SET_NAMESERVERS6, RULES_SETS
};

/*
 * The sets of connections, filled by the rules themselves: client address,
 * client port, nameserver.  What is in them is what the daemon has open, and
 * what it does not know of yet or no more, for seconds:
 *
 *   SYN			new_s, until data flows
 *   data either way	open_s: as long as the daemon would wait, and more
 *   FIN of our side, RST	RULES_STREAMS_END_S, for what is still under way
 *
 * A client's FIN changes nothing: our side answers it by its own at once, or
 * has something to send.  Acknowledgements do not either, since the last of
 * them comes behind both FINs.
 */
#define RULES_STREAMS4		"streams4"
#define RULES_STREAMS6		"streams6"
#define RULES_STREAMS_END_S	2
#define RULES_STREAMS_S		60	/* the sets' own, which no rule leaves to it */

/*
 * The set of users who asked lately, each with its budget: user_rate packets,
 * filled up in one second, so an entry that is older says nothing.  A user who
 * finds no room in the set is not limited: no question is passed by mistake.
 */
#define RULES_USERS		"users"
#define RULES_USERS_MAX		16384
#define RULES_USERS_S		2

/* Packets that are counted for status, each by one rule or more. */
enum rules_counter {
	COUNTER_QUESTIONS,	/* given to a queue, but for the canary's */
	COUNTER_STREAMS_FULL,	/* connections that no set had room for */
	COUNTER_SURPLUS,	/* over a user's rate */
	RULES_COUNTERS
};

struct ruleset {
	struct rule *rules;	/* in order, both chains */
	size_t count;
	struct address_set sets[RULES_SETS];	/* count 0: not in use */
	uint32_t mark_mask, mark_passed, mark_answered, mark_stream, mark_relay;
	bool tcp;
	uint16_t stream_port;
	uint32_t streams_max;		/* connections in each set */
	unsigned int stream_new_s, stream_open_s;
	uint16_t zone;
	uint32_t user_rate;		/* packets a second; 0: no limit, no set */
	uint16_t queue_number;
	uint16_t queue_count;	/* > 1: spread by CPU (fanout) */
	bool queue_bypass;
};

/* Whether a match that comes for both versions of IP is that for IPv4. */
bool rules_is_ipv4(enum rule_match match);

/* Whether a match is for packets of our side, which has the nameserver's address. */
bool rules_is_reply(enum rule_match match);

/* The set that the rule looks into, or RULES_SETS when it needs none. */
enum rules_set_id rule_set_id(const struct rule *rule);

/*
 * Borrows config.  cgroup paths are looked up below the cgroup v2 mount: one
 * that is not there has no rule, and diag a warning with the config's line.
 * Returns 0, -EINVAL (diag says why) or -ENOMEM.
 */
int ruleset_build(struct ruleset *set, const struct config *config,
    enum rules_stage stage, struct diag *diag) __attribute__((warn_unused_result));
void ruleset_free(struct ruleset *set);

const struct rules_chain_form *rules_chain_form(enum rules_chain chain);
/* Whether there is to be such a chain. */
bool ruleset_has_chain(const struct ruleset *set, enum rules_chain chain);
/* The name that a set has there. */
const char *rules_set_name(enum rules_set_id set);

/*
 * Whether both bypass the same cgroups: one that was removed and made anew at
 * the same path is another one, although it is printed alike.
 */
bool ruleset_same_cgroups(const struct ruleset *a, const struct ruleset *b);

/* In nft(8) syntax, with the native queue statement.  0 or a negative errno. */
int ruleset_print(const struct ruleset *set, FILE *out)
    __attribute__((warn_unused_result));

/* The rule without comment and counter, as ruleset_print() writes it. */
void rule_print(const struct ruleset *set, const struct rule *rule, FILE *out);

/* The mark that a canary question's socket has to carry: all three bits. */
uint32_t ruleset_canary_mark(const struct config *config);

/*
 * The mark of connections that the daemon opens itself, to nameservers: those
 * are not queued.
 */
uint32_t ruleset_relay_mark(const struct config *config);

#endif

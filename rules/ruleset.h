/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table inet nfdns that we want in the kernel, as values: the text for nft
 * (print.c) and the netlink batch (kernel.c) are made from this one list of rules,
 * so they cannot differ.
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
#include "rules/rule.h"

#define RULES_TABLE		"nfdns"		/* the name of all */

struct rules_table_form {
	uint8_t family;		/* NFPROTO_* */
	const char *word;	/* of nft(8) */
};

/* What a base chain is; "type" is "filter" or "route". */
struct rules_chain_form {
	const char *name;
	const char *type;
	enum rules_table table;
	unsigned int hook;	/* enum nf_inet_hooks */
	int priority;
};

/* Which rules are to be in chain "question". */
enum rules_stage {
	RULES_CANARY,		/* only the canary's: no user's packet is touched */
	RULES_LEAVING,		/* the same; packets from the queue get no zone */
	RULES_FULL,
	RULES_PAUSED,		/* as FULL, but new questions and connections pass */
};

/* Comments of the rules whose counters do not count users' questions. */
#define RULES_COMMENT_CANARY	"canary"
#define RULES_COMMENT_REPEATED	"repeated: "	/* what they begin with */
/* Of the rule whose counter says how often a set of connections was full. */
#define RULES_COMMENT_FULL	"too many to remember: "
/* Comments of rules for what is over a user's rate begin with this. */
#define RULES_COMMENT_SURPLUS	"over capture.user_rate: "

/* The sets of addresses; also their places in ruleset.sets. */
enum rules_set_id {
	SET_BYPASS4, SET_BYPASS6, SET_NAMESERVERS4, SET_NAMESERVERS6,
	SET_GUESTS4, SET_GUESTS6,	/* where containers ask from */
	RULES_SETS
};

/*
 * The sets of connections: client address, client port, nameserver.  The rules
 * themselves fill them.  They hold the connections that the daemon has open, and
 * for some seconds those that it does not know yet or has just closed.  An entry
 * stays, after a packet with
 *
 *   SYN			new_s, until data flows
 *   data either way	open_s: as long as the daemon would wait, and more
 *   FIN of our side, RST	RULES_STREAMS_END_S, for what is still under way
 *
 * A client's FIN does not change the time: our side answers it with its own at
 * once, or still has data to send.  Acknowledgements do not change it either:
 * the last one follows both FINs.
 */
#define RULES_STREAMS4		"streams4"
#define RULES_STREAMS6		"streams6"
#define RULES_STREAMS_END_S	2
#define RULES_STREAMS_S		60	/* default of the sets; every rule sets its own */

/*
 * What each user but root may send in a second, each budget with a set of the users
 * who asked lately:
 *
 *   PACKETS		user_rate.  What comes at once waits in the queue before
 *			others' questions: it is less
 *   OCTETS		as many questions of RULES_USER_QUESTION octets: of one packet
 *			(UDP_SEGMENT, udp(7)) the queue makes up to 64
 *   CONNECTIONS	so many that one user's fill a quarter of the sets of
 *			connections, if none gets beyond its first packet
 *
 * And what a container may ask, which has no user: what comes by one INTERFACE, and of
 * that from one SOURCE, a quarter, since a container can invent sources.  CONNECTIONS
 * of one interface fill at most a quarter of the sets of connections, too.
 *
 * A budget fills up again within a second, so an older entry says nothing.  While
 * a set is full, new users are not limited: no question is passed by mistake.
 */
enum user_budget {
	USER_PACKETS, USER_OCTETS, USER_CONNECTIONS,
	INTERFACE4, SOURCE4, CONNECTIONS4, INTERFACE6, SOURCE6, CONNECTIONS6,
	USER_BUDGETS
};

/* The budget's set in the kernel. */
struct rules_users {
	const char *name;
	const char *type;		/* of its key, as nft(8) writes it, */
	uint32_t number, length;	/* for it, and in octets */
	enum rules_table table;
	enum subject key;
};

const struct rules_users *rules_users(enum user_budget budget);

static inline const char *
rules_users_name(enum user_budget budget)
{
	return rules_users(budget)->name;
}

#define RULES_USER_QUESTION	80
#define RULES_USER_OCTETS_MIN	65536	/* the largest packet has to fit */
#define RULES_USERS_MAX		16384
#define RULES_USERS_BURST	2000	/* as many at once, at most */
#define RULES_USERS_S		2

/* Packets that rules count for the status, each kind by one rule or more. */
enum rules_counter {
	COUNTER_QUESTIONS,	/* given to a queue, but for the canary's */
	COUNTER_STREAMS_FULL,	/* connections that no set had room for */
	COUNTER_SURPLUS,	/* over a user's rate */
	RULES_COUNTERS
};

/* How the kernel compares with what is wanted. */
enum rules_state { RULES_EQUAL, RULES_DIFFER, RULES_ABSENT };

struct ruleset {
	struct rule *rules;	/* in order, both chains */
	size_t count, room;	/* of them: in use, allocated */
	struct address_set sets[RULES_SETS];	/* count 0: not in use */
	uint32_t mark_mask, mark_passed, mark_answered, mark_stream, mark_relay;
	uint32_t mark_unanswerable, mark_orphan;
	bool tcp;
	bool guests;		/* what containers ask is taken */
	uint32_t mark_back;
	uint16_t stream_ports[2];	/* of the listeners: IPv4, IPv6 */
	uint32_t streams_max;		/* connections in each set */
	unsigned int stream_new_s, stream_open_s;
	uint16_t zone;
	uint32_t user_rate;		/* packets a second; 0: no budgets */
	uint16_t queue_number;
	uint16_t queue_count;	/* > 1: spread by CPU (fanout) */
	bool queue_bypass;
	bool denies;		/* nothing of a program goes by unread */
	bool fail_open;		/* queues pass what they have no room for */
};

/*
 * Borrows config.  Looks cgroup paths up below the cgroup v2 mount.  A path that
 * does not exist gets no rule, and a warning in diag with the config's line.
 * Returns 0, -EINVAL (diag says why) or -ENOMEM.
 */
int ruleset_build(struct ruleset *set, const struct config *config,
    enum rules_stage stage, struct diag *diag) __attribute__((warn_unused_result));
void ruleset_free(struct ruleset *set);

/* The ports of the listeners (IPv4, IPv6), where the rules lead connections. */
void ruleset_listen_at(struct ruleset *set, const uint16_t ports[static 2]);

const struct rules_table_form *rules_table_form(enum rules_table table);
const struct rules_chain_form *rules_chain_form(enum rules_chain chain);
/* Whether the set has rules for that chain. */
bool ruleset_has_chain(const struct ruleset *set, enum rules_chain chain);
/* The name of the set in the kernel, and where it is. */
const char *rules_set_name(enum rules_set_id set);
enum rules_table rules_set_table(enum rules_set_id set);
/* Whether users have such a budget. */
bool ruleset_has_budget(const struct ruleset *set, enum user_budget budget);

/*
 * Whether both bypass the same cgroups.  A cgroup that was removed and created
 * again at the same path is another one, although it is printed the same.
 */
bool ruleset_same_cgroups(const struct ruleset *a, const struct ruleset *b);

/* In nft(8) syntax, with the native queue statement.  0 or a negative errno. */
int ruleset_print(const struct ruleset *set, FILE *out)
    __attribute__((warn_unused_result));

/* The same as a text, which the caller frees; NULL: no memory. */
char *ruleset_text(const struct ruleset *set);

/* The mark that a canary question's socket has to carry: all three bits. */
uint32_t ruleset_canary_mark(const struct config *config);

/*
 * The mark of connections that the daemon opens itself, to nameservers: those
 * are not queued.
 */
uint32_t ruleset_relay_mark(const struct config *config);

/*
 * Marks of packets in the queue, where the policy could deny: no answer can be
 * given, since the source is foreign or the destination is a group of hosts; and
 * one that is queued again after its socket was closed.
 */
uint32_t ruleset_unanswerable_mark(const struct config *config);

/* What several rules of the set have in common: conditions and outcomes. */

/*
 * Appends a rule without conditions and statements; ruleset_build() made room
 * for all.  The comment is a format.
 */
struct rule *add_rule(struct ruleset *set, enum rules_chain chain,
    const char *comment, ...) __attribute__((format(printf, 3, 4)));

void when_family(struct rule *rule, bool ipv4);
void when_protocol(struct rule *rule, enum condition_operator operator,
    uint8_t protocol);
void when_port53(struct rule *rule, enum condition_operator operator);
/* UDP, or TCP, to port 53. */
void when_question(struct rule *rule);
void when_connection(struct rule *rule);
/* Our own bits of the mark have, or have not, that value. */
void when_marked(struct rule *rule, const struct ruleset *set,
    enum condition_operator operator, uint32_t value);
/* Appends a rule for packets whose mark has that value in our own bits. */
struct rule *add_marked(struct ruleset *set, enum rules_chain chain,
    uint32_t value, const char *comment);
/* Given to the queue as a question, whatever else its mark says. */
void when_passed(struct rule *rule, const struct ruleset *set);
/* Sent by a socket of this network namespace that a program has open. */
void when_owned(struct rule *rule);
/* To an address in the set of that family. */
void when_destination_in(struct rule *rule, const struct address_set *set);
/* Of TCP flags FIN, SYN, RST and ACK, it has SYN alone. */
void when_first(struct rule *rule, enum condition_operator operator);

/* Appends rules by which what is not DNS leaves the chain at once. */
void add_not_dns(struct ruleset *set, enum rules_chain chain);

/*
 * New connections a second that fill a quarter of the sets of connections, if none gets
 * beyond its first packet.
 */
uint32_t connection_rate(const struct ruleset *set);

/* A statement without values. */
void then(struct rule *rule, enum statement_kind kind);
/* Counted, and on its way. */
void then_accept(struct rule *rule);
/* Counted, and gone. */
void then_drop(struct rule *rule);
void then_set_bits(struct rule *rule, uint32_t bits);
void then_clear_bits(struct rule *rule, uint32_t bits);
/* Counted, and to the queue. */
void then_queue(struct rule *rule, const struct ruleset *set);

/* The rules of chain "question" that queue packets, and what may not be queued. */

/* Appends them, behind the bypasses: there are at most so many.  "paused": RULES_PAUSED. */
#define QUESTION_RULES	21
void question_rules_add(struct ruleset *set, bool any_nameserver, bool paused);

/* The rules of chains "stream" and "arrival": TCP, once it is intercepted. */

/* Appends all of them: at most STREAM_RULES. */
#define STREAM_RULES 24
void stream_rules_add(struct ruleset *set);

/* The rules for what containers and guests behind this machine ask. */

/* How many there are, at most. */
size_t guest_rules_count(const struct config *config);

/* Fills the sets of addresses that those without sources ask from.  0 or -ENOMEM. */
int guest_rules_fill(struct ruleset *set, const struct config *config)
    __attribute__((warn_unused_result));

/* Appends them; "queued": questions go to the queue. */
void guest_rules_add(struct ruleset *set, const struct config *config,
    bool queued);

#endif
